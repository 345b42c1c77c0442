# SPDX-License-Identifier: MIT
"""Worlds over several servers, as one group.

    fleet = moreau_sim.Fleet(["10.0.0.1:7667", "10.0.0.2:7667"], "cart_pole.json", count=8192, action=…, observation=…)
    rows = fleet.reset(seed=1)
    rows = fleet.step(actions)

Its worlds are cut into *shares*, each of which is one group for ever, on one server after the other. The same seeds
give the same bits on any number of servers, after moves, and after servers were lost.
"""

from .fleet import Event, Fleet

__all__ = ["Event", "Fleet"]
