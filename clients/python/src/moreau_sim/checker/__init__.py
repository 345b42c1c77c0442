# SPDX-License-Identifier: MIT
"""A checker of Gymnasium vector environments: ours, and anybody's.

    from moreau_sim.checker import check_vector_env

    def make(autoreset_mode):
        return gymnasium.make_vec("CartPole-v1", num_envs=3, vectorization_mode="sync",
                                  vector_kwargs={"autoreset_mode": autoreset_mode})

    print(check_vector_env(make))

It plays the same scripted episodes again and again, under every autoreset mode, and compares them: what a world
observes, is paid and is told at its end must be a function of its seed and its actions alone. `python -m moreau_sim
check-vector ID` does it for a registered environment.
"""

from .._extra import needs_gymnasium

needs_gymnasium("moreau_sim.checker")

from ._check import CheckFailed, check_vector_env  # noqa: E402
from ._report import Problem, Report  # noqa: E402

__all__ = ["CheckFailed", "Problem", "Report", "check_vector_env"]
