# SPDX-License-Identifier: MIT
"""A learner for tests/slurm.sh: a fleet of this allocation beside one group on a server of its own, call by call.

  learner.py FOLDER CALLS      FOLDER/at: the call that it is at; FOLDER/same, with what happened: all had the same bits
"""

import pathlib
import sys
import time

import moreau_sim
import moreau_sim.slurm
from cart import CART, COUNT, LAYOUT, actions, same


def main(folder, calls):
    with moreau_sim.launch(workers=1) as server, server.client() as client:
        fleet = moreau_sim.slurm.Fleet(CART, count=COUNT, lost_after_s=3.0, **LAYOUT)
        with fleet, moreau_sim.Group.create(client, CART, count=COUNT, **LAYOUT) as group:
            same(fleet.reset(seed=3), group.reset(seed=3))
            for call in range(calls):
                same(fleet.step(actions(call)), group.step(actions(call)))
                (folder / "at.new").write_text(f"{call} {fleet.slurm.folder}\n")
                (folder / "at.new").replace(folder / "at")  # read meanwhile
                time.sleep(0.02)
            told = "".join(f"{event.kind}: {event.text}\n" for event in fleet.events)
    (folder / "same").write_text(f"{fleet.slurm.folder}\n{told}")


main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
