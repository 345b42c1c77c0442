# SPDX-License-Identifier: MIT
"""Scripted episodes of a vector environment, and what it returned of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array, iterate


@dataclass
class Episode:
    """What one world saw of one episode: `observations` has one more than `rewards`, the last is the terminal one."""

    observations: list[Any] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    terminated: bool = False
    truncated: bool = False
    told: dict[str, Any] | None = None  # what infos said of its last step; of SAME_STEP, what final_info did …
    told_beside: dict[str, Any] = field(default_factory=dict)  # … and what stood beside it, of the next episode

    @property
    def is_over(self) -> bool:
        return self.terminated or self.truncated


@dataclass
class Returned:
    """What a call of reset or step returned: the things themselves, and copies made at once."""

    call: str
    live: tuple[Any, ...]
    copied: tuple[Any, ...]


class Malformed(Exception):
    """What a call returned is not what such a call returns, so that nobody can tell what it means."""


class Script:
    """An action for every (world, episode, step): what a world does depends on nothing else."""

    def __init__(self, space: Any, seed: int) -> None:
        self._space = copy.deepcopy(space)
        self._seed = seed
        self._drawn: dict[tuple[int, int], list[Any]] = {}

    def action(self, world: int, episode: int, step: int) -> Any:
        drawn = self._drawn.setdefault((world, episode), [])
        if step >= len(drawn):
            self._space.seed(int(np.random.SeedSequence([self._seed, world, episode]).generate_state(1)[0]))
            drawn[:] = [self._space.sample() for _ in range(max(64, 2 * step))]
        return drawn[step]

    def any(self, world: int, call: int) -> Any:
        """For a step whose action must not matter."""
        return self.action(world, 1_000_000 + self._seed, call % 64)


class Player:
    """Plays a script. `episodes[world]` are those of a world, `returned` all that came back, `complaints` what was
    wrong with single calls, as (check, text)."""

    def __init__(
        self, env: VectorEnv[Any, Any, Any], mode: AutoresetMode, script: Script, *, scribble: bool = False
    ) -> None:
        self.env = env
        self.mode = mode
        self.script = script
        self.scribble = scribble
        self.count = env.num_envs
        self.episodes: list[list[Episode]] = [[] for _ in range(self.count)]
        self.returned: list[Returned] = []
        self.complaints: list[tuple[str, str]] = []

    # ---- calls

    def _called(self, name: str, call: Callable[[], Any]) -> Any:
        """What a call returns. It leaves alone what belongs to everybody."""
        before = np.random.get_state(legacy=False)
        returned = call()
        if not same(np.random.get_state(legacy=False), before):
            what = name.partition(" ")[0]
            self.complaints.append(
                (
                    "seeds",
                    f"{what} changes NumPy's global generator (np.random), which is everybody's: seeds and draws of "
                    f"others",
                )
            )
        return returned

    def _keep(self, call: str, live: tuple[Any, ...]) -> tuple[Any, ...]:
        copied = copy.deepcopy(live)
        self.returned.append(Returned(call, live, copied))
        if self.scribble:
            for array in arrays_of(live):
                if array.flags.writeable and array.dtype != object:
                    array[...] = 1
        return copied

    def _rows(self, call: str, observation: Any) -> list[Any]:
        rows = [copy.deepcopy(row) for row in iterate(self.env.observation_space, observation)]
        if len(rows) != self.count:
            raise Malformed(f"{call} returned observations of {len(rows)} worlds, not of {self.count}")
        return rows

    def reset(self, seed: int | list[int] | None, mask: Any = None) -> None:
        given = copy.deepcopy(mask)
        options = None if mask is None else {"reset_mask": given}
        given_back = self._called("reset", lambda: self.env.reset(seed=seed, options=options))  # type: ignore[arg-type]
        returned = self._keep("reset", _things("reset", given_back, RESET_GIVES))
        if not same(given, mask):
            self.complaints.append(("masks", "reset changed the mask that it was given"))
        rows = self._rows("reset", returned[0])
        for world in range(self.count):
            if mask is None or mask[world]:
                self.episodes[world].append(Episode([rows[world]]))
            elif not same(rows[world], self.episodes[world][-1].observations[-1]):
                self.complaints.append(
                    (
                        "masks",
                        f"options['reset_mask'] is passed over: reset changed the observation of world {world}, "
                        f"which it leaves out",
                    )
                )

    def step(self) -> None:
        is_over = [episodes[-1].is_over for episodes in self.episodes]
        if self.mode is AutoresetMode.DISABLED and any(is_over):
            self.reset(None, np.array(is_over))
            is_over = [False] * self.count
        call = len(self.returned)
        chosen = []
        for world, episodes in enumerate(self.episodes):
            if is_over[world]:
                chosen.append(self.script.any(world, call))
            else:
                chosen.append(self.script.action(world, len(episodes) - 1, len(episodes[-1].rewards)))
        space = self.env.single_action_space
        empty: Any = create_empty_array(space, self.count)
        actions = concatenate(space, chosen, empty)
        given = copy.deepcopy(actions)
        name = f"step {call}"
        returned = self._keep(name, _things(name, self._called(name, lambda: self.env.step(actions)), STEP_GIVES))
        if not same(actions, given):
            self.complaints.append(("buffers", "step changed the array of actions that it was given"))
        self._take(name, returned, is_over)

    def play(self, seed: int | list[int] | None, calls: int) -> Player:
        self.reset(seed)
        for _ in range(calls):
            self.step()
        return self

    # ---- what they mean

    def _take(self, call: str, returned: tuple[Any, ...], was_over: list[bool]) -> None:
        observation, rewards, terminated, truncated, infos = returned
        rows = self._rows(call, observation)
        for what, numbers in zip(STEP_GIVES[1:4], returned[1:4]):
            if np.shape(numbers) != (self.count,):
                raise Malformed(f"{call} returned {what} of shape {np.shape(numbers)}, not {(self.count,)}")
        finals = infos.get("final_obs"), infos.get("_final_obs")
        for world in range(self.count):
            if was_over[world]:
                # the mode is NEXT_STEP: this call began an episode
                if rewards[world] != 0 or terminated[world] or truncated[world]:
                    self.complaints.append(
                        ("ends", f"the step that begins an episode of world {world} has a reward, or ends it")
                    )
                self.episodes[world].append(Episode([rows[world]]))
                continue
            episode = self.episodes[world][-1]
            episode.rewards.append(float(rewards[world]))
            episode.terminated, episode.truncated = bool(terminated[world]), bool(truncated[world])
            if self.mode is AutoresetMode.SAME_STEP and episode.is_over:
                episode.observations.append(self._final(finals, world))
                episode.told, episode.told_beside = self._final_info(infos, world), told_of(infos, world, self.count)
                if same(episode.observations[-1], rows[world]):
                    self.complaints.append(
                        (
                            "ends",
                            f"final_obs of world {world} is the first observation of its next episode, not the last "
                            f"of this one",
                        )
                    )
                self.episodes[world].append(Episode([rows[world]]))
            else:
                episode.observations.append(rows[world])
                episode.told = told_of(infos, world, self.count) if episode.is_over else None
        self._check_finals(infos, terminated, truncated, was_over)

    def _final(self, finals: tuple[Any, Any], world: int) -> Any:
        observations, mask = finals
        if observations is None or mask is None or not mask[world] or observations[world] is None:
            self.complaints.append(
                (
                    "ends",
                    f"an episode of world {world} ended, and infos has no final_obs of it, or _final_obs does not "
                    f"say so",
                )
            )
            return None
        return copy.deepcopy(observations[world])

    def _final_info(self, infos: dict[str, Any], world: int) -> dict[str, Any] | None:
        """A dictionary with masks, or, as Gymnasium once had it, one for each world."""
        final = infos.get("final_info")
        if isinstance(final, dict):
            return told_of(final, world, self.count)
        if not isinstance(final, np.ndarray) or final.shape != (self.count,) or not isinstance(final[world], dict):
            return None
        told: dict[str, Any] = final[world]
        return told

    def _check_finals(self, infos: dict[str, Any], terminated: Any, truncated: Any, was_over: list[bool]) -> None:
        if self.mode is not AutoresetMode.SAME_STEP:
            return
        over = np.logical_or(terminated, truncated)
        for name in ("_final_obs", "_final_info"):
            mask = infos.get(name)
            if mask is None and np.any(over):
                self.complaints.append(("ends", f"episodes ended, and infos has no {name}"))
            elif mask is not None and not np.array_equal(np.asarray(mask, dtype=bool), over):
                self.complaints.append(
                    ("ends", f"{name} marks worlds whose episode did not end, or leaves out some whose did")
                )


RESET_GIVES = ("observations", "infos")
FINALS = ("final_obs", "final_info")
STEP_GIVES = ("observations", "rewards", "terminations", "truncations", "infos")


def _things(call: str, returned: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """What a call returned, if it is as many things as it should be."""
    asked = f"{', '.join(names[:-1])} and {names[-1]}"
    if not isinstance(returned, tuple):
        raise Malformed(f"{call} returned one {type(returned).__name__}, not a tuple of {asked}")
    if len(returned) != len(names):
        raise Malformed(f"{call} returned {len(returned)} things, not {asked}")
    if not isinstance(returned[-1], dict):
        raise Malformed(f"{call} returned infos that are no dictionary but a {type(returned[-1]).__name__}")
    return returned


def told_of(infos: dict[str, Any], world: int, count: int) -> dict[str, Any]:
    """What infos of `count` worlds say of one."""
    told: dict[str, Any] = {}
    for key, value in infos.items():
        mask = infos.get(f"_{key}")
        if (
            key.startswith("_")
            or key in FINALS
            or not isinstance(mask, np.ndarray)
            or mask.shape != (count,)
            or not mask[world]
        ):
            continue
        if isinstance(value, dict):
            told[key] = told_of(value, world, count)
        elif np.ndim(value) > 0 and len(value) == count:
            told[key] = value[world]
    return told


def same(a: Any, b: Any) -> bool:
    """Whether two observations, infos or tuples of them are alike to the bit; NaN is like NaN."""
    if isinstance(a, dict) or isinstance(b, dict):
        return (
            isinstance(a, dict)
            and isinstance(b, dict)
            and a.keys() == b.keys()
            and all(same(a[key], b[key]) for key in a)
        )
    if isinstance(a, (tuple, list)) or isinstance(b, (tuple, list)):
        return (
            isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b) and all(map(same, a, b))
        )
    if isinstance(a, np.ndarray) and a.dtype == object:
        return (
            isinstance(b, np.ndarray) and a.shape == b.shape and all(map(same, a.ravel().tolist(), b.ravel().tolist()))
        )
    if a is None or b is None:
        return a is b
    first, second = np.asarray(a), np.asarray(b)
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    is_float = first.dtype.kind in "fc"
    return bool(np.array_equal(first, second, equal_nan=is_float))


def arrays_of(value: Any) -> list[Any]:
    """All arrays in what was returned."""
    if isinstance(value, np.ndarray):
        return [value] + (
            [array for item in value.ravel() for array in arrays_of(item)] if value.dtype == object else []
        )
    if isinstance(value, dict):
        return [array for item in value.values() for array in arrays_of(item)]
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in arrays_of(item)]
    return []
