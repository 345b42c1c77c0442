# SPDX-License-Identifier: MIT
"""Gymnasium's MuJoCo environments of version 5, with this server's contacts."""

from .pendulums import InvertedDoublePendulum, InvertedPendulum
from .planar import HalfCheetah, Hopper, Walker2d

ENVIRONMENTS = (InvertedPendulum, InvertedDoublePendulum, Hopper, Walker2d, HalfCheetah)

__all__ = ["ENVIRONMENTS", "HalfCheetah", "Hopper", "InvertedDoublePendulum", "InvertedPendulum", "Walker2d"]
