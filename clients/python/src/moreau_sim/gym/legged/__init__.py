# SPDX-License-Identifier: MIT
"""Robots on legs that follow velocity commands over terrains."""

from .locomotion import LeggedLocomotion
from .robot import PUP, Robot
from .terrain import Terrain

__all__ = ["PUP", "LeggedLocomotion", "Robot", "Terrain"]
