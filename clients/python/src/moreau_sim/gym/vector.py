# SPDX-License-Identifier: MIT
"""Many worlds of an environment, as Gymnasium's vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ..group import Columns, Opinions
from .environment import Environment
from .worlds import Outcome, Worlds


class MoreauVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` worlds of a description on a server.

    autoreset_mode    NEXT_STEP, SAME_STEP or DISABLED
    address, token    the server; default: $MOREAU_SERVER, or one of this process, started and stopped with it
    workers           threads of a server that is started for this environment alone
    timeout_s         how long the server may be silent before it is taken for dead
    double_precision  observations of doubles; default: as the description has it
    max_episode_steps of an episode, instead of the description's
    render_mode       "rgb_array": render() draws every world
    record            every episode is kept in the server's file (--db) under this name
    resume            the worlds go on from this recording (`worlds.group.recording`, or its name), in the middle of
                      their episodes: the first reset() without a seed begins none, and returns what they see.
                      `worlds.group.resumed` says from where, and what is lost
    resume_step       behind so many calls of it; default: the last that all worlds have

    pushes            at random moments, a list of moreau_sim.push(…), instead of the description's
    first_world       world i draws what world first_world + i of a larger environment would: several learners have each
                      their part of it
    fleet             addresses of several servers, as moreau_sim.Fleet has them, instead of `address`; with
                      lost_after_s, save_every, shares … of it. `worlds.group` is the Fleet

    World i's k-th episode after reset(seed=s) is drawn from the stream (s, i, k): the same on every machine, whatever
    the number of workers. `infos["failure"]` says why the step of a world failed; its episode is truncated.

    opinion           a second opinion on this share of the steps (0 … 1), or protocol.GroupOpinion: policies learn to
                      exploit what a contact solver got wrong. It changes neither observations nor rewards. infos then
                      have `doubtful`, the worlds whose step has bad certificates, and `opinion`, the largest gap
                      between what a step did and exact Coulomb friction, of steps some calls ago that were solved
                      again; with `opinion_step` and `opinion_episode`, which they were. See opinions()
    record            a name: keeps the episodes in the server's file, with their returns and what of these was earned
                      in doubtful steps: `moreau episodes --rank doubtful`
    """

    def __init__(
        self,
        environment: Environment,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        **place: Any,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode {render_mode!r}: there is 'rgb_array'")
        self.environment = environment
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.render_mode = render_mode
        self.metadata = {
            "render_modes": ["rgb_array"],
            "render_fps": round(1.0 / environment.time_step),
            "autoreset_mode": self.autoreset_mode,
        }
        mode = self.autoreset_mode.name
        self.worlds = Worlds(
            environment, num_envs, mode, is_drawn=render_mode is not None, step_limit=max_episode_steps, **place
        )
        group = self.worlds.group
        self.single_action_space = environment.action_space(group.action)
        self.single_observation_space = environment.observation_space(group.observation, group.dtype)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._shape = np.shape(np.asarray(self.action_space.sample()))

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins episodes, of all worlds or of those that options["reset_mask"] names.

        options["values"] has a row for each of them: what is added to the scene instead of what would be drawn, a
        number for each column of `noise`.

        seed   episode 0 of that seed, in which every world has a stream of its own; or a list with one for each world,
               of which those of worlds that are not named are left alone; default: the next episode of each
        """
        if seed is None or isinstance(seed, (int, np.integer)):
            seed = None if seed is None else int(seed)
            super().reset(seed=seed)
        seeds = np.asarray(seed, dtype=object)
        if seeds.ndim > 0 and len(seeds) != self.num_envs:
            raise ValueError(f"seed: a list has one for each of the {self.num_envs} worlds, not {len(seeds)}")
        mask = (options or {}).get("reset_mask")
        if mask is not None:
            if not isinstance(mask, np.ndarray):
                raise TypeError(
                    f"options['reset_mask'] is an array of {self.num_envs} booleans, not a {type(mask).__name__}"
                )
            if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
                raise ValueError(
                    f"options['reset_mask'] is an array of {self.num_envs} booleans, some of them True, not {mask!r}"
                )
            if seeds.ndim > 0:
                seed = seeds[mask].tolist()
        values = (options or {}).get("values")
        observation, told = self.worlds.reset(mask, seed, values)
        return observation, _masked(told, np.ones(self.num_envs, np.bool_) if mask is None else mask)

    @property
    def noise(self) -> Columns:
        """What a reset draws: the names of the numbers, and within what they are."""
        noise: Columns = self.worlds.group.noise
        return noise

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One step of every world. An action that is not finite, or not of the space's shape, is a ValueError, and
        nothing has stepped."""
        numbers = np.asarray(actions)
        if numbers.shape != self._shape:
            raise ValueError(f"actions: an array of shape {self._shape} is asked for, not {numbers.shape}")
        outcome = self.worlds.step(numbers)
        return outcome.observation, outcome.reward, outcome.terminated, outcome.truncated, self._infos(outcome)

    def opinions(self) -> Opinions:
        """Waits for all second opinions on the steps so far, and gives those that no infos have had."""
        return self.worlds.opinions()

    def _add_opinions(self, outcome: Outcome, infos: dict[str, Any]) -> None:
        """Of a world with several (steps before a reset) the largest gap."""
        infos |= {"doubtful": outcome.doubtful, "_doubtful": self._stepped(outcome)}
        of = outcome.opinions
        if len(of) == 0:
            return
        gap, step, episode = (
            np.zeros(self.num_envs),
            np.zeros(self.num_envs, np.uint64),
            np.zeros(self.num_envs, np.uint64),
        )
        given = np.zeros(self.num_envs, np.bool_)
        order = np.argsort(of.gap, kind="stable")
        world = of.world[order]
        gap[world], step[world], episode[world], given[world] = of.gap[order], of.step[order], of.episode[order], True
        for name, values in (("opinion", gap), ("opinion_step", step), ("opinion_episode", episode)):
            infos |= {name: values, f"_{name}": given.copy()}

    def _stepped(self, outcome: Outcome) -> NDArray[np.bool_]:
        return np.ones(self.num_envs, np.bool_) if outcome.began is None else ~outcome.began

    def _infos(self, outcome: Outcome) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        ended = None
        if len(outcome.final) and self.autoreset_mode is AutoresetMode.SAME_STEP:
            ended = np.zeros(self.num_envs, np.bool_)
            ended[outcome.final.world] = True
            # rows of objects, as Gymnasium has them: None where nothing ended
            observations = np.empty(self.num_envs, object)
            for world, observation in zip(outcome.final.world.tolist(), outcome.final.observation):
                observations[world] = observation
            infos |= {"final_obs": observations, "_final_obs": ended}
            infos |= {"final_info": _masked(outcome.info, ended), "_final_info": ended.copy()}
        stepped = self._stepped(outcome)
        infos |= _masked(outcome.info, stepped if ended is None else stepped & ~ended)
        if outcome.begun:
            begun = ~stepped if ended is None else ~stepped | ended
            for name, values in _masked(outcome.begun, begun).items():
                # what is said of steps, too, is of both
                infos[name] = np.where(_spread(begun, values), values, infos.get(name, values))
        if self.worlds.has_opinion:
            self._add_opinions(outcome, infos)
        if outcome.failures:
            failed = np.zeros(self.num_envs, np.bool_)
            why = np.full(self.num_envs, None, object)
            for world, reason in outcome.failures.items():
                failed[world], why[world] = True, reason
            infos |= {"failure": why, "_failure": failed}
        return infos

    def render(self) -> tuple[NDArray[np.uint8], ...]:
        """A picture of every world, as it was last seen."""
        if self.render_mode is None:
            raise ValueError("render() needs render_mode='rgb_array' where the environment is made")
        return tuple(self.worlds.draw(world) for world in range(self.num_envs))

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """An attribute of the environment's description, or what a method of it gives, for every world."""
        value = getattr(self.environment, name)
        return (value(*args, **kwargs) if callable(value) else value,) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of the environment's description, for every world."""
        return (getattr(self.environment, name),) * self.num_envs

    def close_extras(self, **_: Any) -> None:
        """Ends the worlds."""
        self.worlds.close()

    def __del__(self) -> None:
        if hasattr(self, "worlds"):
            self.close()


def seen_last(observation: NDArray[Any], infos: dict[str, Any]) -> NDArray[Any]:
    """What each world saw at the end of a step in which episodes may have begun anew (SAME_STEP): of those that ended,
    their last observation instead of the next one's first. Of any Gymnasium vector environment."""
    if "final_obs" not in infos:
        return observation
    ended = infos["_final_obs"]
    last = observation.copy()
    last[ended] = np.stack(infos["final_obs"][ended])
    return last


def _spread(mask: NDArray[np.bool_], values: NDArray[Any]) -> NDArray[np.bool_]:
    """A mask of worlds for all numbers that each of them has."""
    return mask.reshape(-1, *[1] * (values.ndim - 1))


def _masked(info: dict[str, NDArray[Any]], mask: NDArray[np.bool_]) -> dict[str, Any]:
    """As Gymnasium has infos of many worlds: each with a mask of the worlds that it is of."""
    masked: dict[str, Any] = {}
    for name, values in info.items():
        masked[name] = np.where(_spread(mask, values), values, np.zeros((), values.dtype))
        masked[f"_{name}"] = mask.copy()
    return masked
