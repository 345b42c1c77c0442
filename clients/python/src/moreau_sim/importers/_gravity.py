# SPDX-License-Identifier: MIT
"""Gravity compensation: a share of each body's weight that something holds, at the centre of its mass."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bodies import is_off
from ._joints import Joints
from ._poses import HERE, Pose


class Gravity:
    """What of it a scene can say.

    share   that all that moves is held against: the world's gravity is so much less
    held    bodies that are held otherwise than others: of each, a joint that leaves everything free pushes at it
    """

    def __init__(self, mujoco: Any, joints: Joints) -> None:
        model, roots = joints.model, joints.bodies.root
        moving = [body for body in range(1, model.nbody) if roots[body] != 0 and model.body_mass[body] > 0.0]
        shares = {body: float(model.body_gravcomp[body]) for body in moving}
        self._joints, self._shares = joints, shares
        # what actuators hold has their limits
        self.is_said = not np.any(getattr(model, "jnt_actgravcomp", np.zeros(0)))
        is_one = len(set(shares.values())) == 1
        self.share = next(iter(shares.values())) if self.is_said and is_one else 0.0
        is_none = is_off(mujoco, model, "GRAVITY") or is_one or not self.is_said
        self.held = [] if is_none else [body for body in moving if shares[body] != 0.0]

    def scene(self) -> list[dict[str, Any]]:
        """The joints that push."""
        return [self._push(body) for body in self.held]

    def _push(self, body: int) -> dict[str, Any]:
        model, bodies = self._joints.model, self._joints.bodies
        center = bodies.in_root[body].then(Pose(model.body_ipos[body], HERE.orientation)).position
        force = -self._shares[body] * float(model.body_mass[body]) * np.asarray(model.opt.gravity)
        return {
            "name": f"{bodies.name(body)} against gravity",
            "kind": "FREE",
            "as_rows": True,
            "body_b": bodies.name(bodies.root[body]),
            "frame_a": HERE.numbers(),
            "frame_b": Pose(center, HERE.orientation).numbers(),
            "effort": [*force.tolist(), 0.0, 0.0, 0.0],
        }
