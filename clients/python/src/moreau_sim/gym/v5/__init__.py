# SPDX-License-Identifier: MIT
"""Gymnasium's MuJoCo environments of version 5, with this server's contacts."""

from .arms import Pusher, Reacher
from .floating import AntV5, Humanoid
from .pendulums import InvertedDoublePendulum, InvertedPendulum
from .planar import HalfCheetah, Hopper, Walker2d

ENVIRONMENTS = (
    InvertedPendulum,
    InvertedDoublePendulum,
    Reacher,
    Pusher,
    HalfCheetah,
    Hopper,
    Walker2d,
    AntV5,
    Humanoid,
)

__all__ = [
    "ENVIRONMENTS",
    "AntV5",
    "HalfCheetah",
    "Hopper",
    "Humanoid",
    "InvertedDoublePendulum",
    "InvertedPendulum",
    "Pusher",
    "Reacher",
    "Walker2d",
]
