# SPDX-License-Identifier: MIT
"""Gymnasium environments: the optional extra `moreau-sim[gym]`.

    import gymnasium

    worlds = gymnasium.make_vec("moreau_sim.gym:moreau_sim/CartPole-v0", num_envs=4096, address="127.0.0.1:7667")
    env = gymnasium.make("moreau_sim.gym:moreau_sim/BlockPush-v0", render_mode="rgb_array")

Gymnasium loads no plugins: the name in front of the colon is the module that it imports for the ids to be there, and
once that is imported they may stand alone. Without an address a server is started for this process. An environment of
one's own is a class of Environment, and register(); of a robot's file, from_file().
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .._extra import needs_gymnasium

needs_gymnasium("moreau_sim.gym")

import gymnasium  # noqa: E402

from .ant import Ant  # noqa: E402
from .block_push import BlockPush  # noqa: E402
from .cart_pole import CartPole  # noqa: E402
from .environment import Environment, Moment  # noqa: E402
from .from_file import FileEnvironment, from_file  # noqa: E402
from .legged import LeggedLocomotion  # noqa: E402
from .render import Camera, Picture  # noqa: E402
from .single import MoreauEnv  # noqa: E402
from .stack import Stack  # noqa: E402
from .v5 import ENVIRONMENTS as V5  # noqa: E402
from .vector import MoreauVectorEnv, seen_last  # noqa: E402

__all__ = [
    "Ant",
    "BlockPush",
    "Camera",
    "CartPole",
    "Environment",
    "FileEnvironment",
    "LeggedLocomotion",
    "Moment",
    "MoreauEnv",
    "MoreauVectorEnv",
    "Picture",
    "Stack",
    "from_file",
    "register",
    "register_all",
    "seen_last",
]

ENVIRONMENTS: tuple[type[Environment], ...] = (CartPole, BlockPush, Ant, Stack, LeggedLocomotion, *V5)


def _described(description: type[Environment], options: dict[str, Any]) -> Environment:
    """The environment, made with those of the options that it knows, which are taken out."""
    known = inspect.signature(description).parameters
    return description(**{name: options.pop(name) for name in list(options) if name in known})


def _single(description: type[Environment], **options: Any) -> MoreauEnv:
    return MoreauEnv(_described(description, options), **options)


def _vector(description: type[Environment], **options: Any) -> MoreauVectorEnv:
    return MoreauVectorEnv(_described(description, options), **options)


def register(description: type[Environment]) -> str:
    """Makes an environment known to gymnasium.make and make_vec, which give it what its __init__ takes; its id
    there."""
    id = f"moreau_sim/{description.name}-v{description.version}"
    gymnasium.register(
        id,
        entry_point=functools.partial(_single, description),
        vector_entry_point=functools.partial(_vector, description),
        reward_threshold=description.reward_threshold,
        max_episode_steps=description.step_limit,
    )
    return id


def register_all() -> None:
    """Those of this package; importing this module calls it."""
    for description in ENVIRONMENTS:
        id = f"moreau_sim/{description.name}-v{description.version}"
        if id not in gymnasium.registry:
            register(description)


register_all()
