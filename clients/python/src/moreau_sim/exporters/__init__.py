# SPDX-License-Identifier: MIT
"""Episodes as files that other programs show: the optional extra `moreau-sim[mcap]`.

    moreau_sim.exporters.mcap(moreau_sim.Episode(client, "demo"), "demo.mcap")

`python -m moreau_sim export EPISODE --mcap FILE` does the same on the command line. CSV and NPZ are written by
`moreau export`, and `Episode.arrays()` gives the same arrays without a file.
"""

from ._mcap import ExportFailed, Written, mcap

__all__ = ["ExportFailed", "Written", "mcap"]
