# SPDX-License-Identifier: MIT
"""Gymnasium's MuJoCo environments of version 5, with this server's contacts."""

from .pendulums import InvertedDoublePendulum, InvertedPendulum
from .planar import Hopper

ENVIRONMENTS = (InvertedPendulum, InvertedDoublePendulum, Hopper)

__all__ = ["ENVIRONMENTS", "Hopper", "InvertedDoublePendulum", "InvertedPendulum"]
