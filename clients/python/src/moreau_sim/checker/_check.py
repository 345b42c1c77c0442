# SPDX-License-Identifier: MIT
"""The checks, one function each, and what runs them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from ._play import Episode, Malformed, Player, Script, arrays_of, same
from ._report import Report

Make = Callable[..., "VectorEnv[Any, Any, Any]"]
WORLDS_SEEDED = 4  # whose own seed is tried
CHECKS = ("spaces", "arrays", "seeds", "ends", "masks", "buffers", "modes", "workers", "close")


class CheckFailed(AssertionError):
    """A vector environment is not as it should be; `report` says where."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(str(report))


def check_vector_env(
    make: Make,
    *,
    calls: int = 150,
    seed: int = 7,
    variants: Sequence[Mapping[str, Any]] = (),
    raises: bool = True,
) -> Report:
    """Checks a vector environment in every autoreset mode that it has.

    make       makes one anew: called with the keyword autoreset_mode (gymnasium.vector.AutoresetMode), and those of a
               variant. What it raises for a mode means that there is none. Three worlds or more find most
    calls      of step, each time; episodes should end within them, again and again
    variants   keywords for `make` that must change nothing that is returned, as {"workers": 1}, {"workers": 8}
    raises     CheckFailed where there are problems; otherwise they are only in the report
    """
    report = Report(
        "vector environment", list(CHECKS if variants else [check for check in CHECKS if check != "workers"])
    )
    checker = _Checker(make, calls, seed, report)
    everybodys = np.random.get_state(legacy=False)
    try:
        played = {
            mode.name: episodes
            for mode in AutoresetMode
            if (episodes := checker.check_mode(mode, variants)) is not None
        }
    finally:
        np.random.set_state(everybodys)
    if not checker.made:
        raise ValueError("make() made an environment in no autoreset mode: " + "; ".join(report.skipped))
    checker.compare_modes(played)
    checker.compare_finals(played)
    if raises and not report.ok:
        raise CheckFailed(report)
    return report


class _Checker:
    def __init__(self, make: Make, calls: int, seed: int, report: Report) -> None:
        self.make = make
        self.calls = calls
        self.seed = seed
        self.report = report
        self.made = False  # anything at all

    @contextlib.contextmanager
    def _env(self, mode: AutoresetMode, variant: Mapping[str, Any] = {}) -> Iterator[VectorEnv[Any, Any, Any]]:
        env = self.make(autoreset_mode=mode, **variant)
        try:
            yield env
        finally:
            env.close()

    def _player(self, env: VectorEnv[Any, Any, Any], mode: AutoresetMode, **options: Any) -> Player:
        return Player(env, mode, Script(env.single_action_space, self.seed), **options)

    def check_mode(self, mode: AutoresetMode, variants: Sequence[Mapping[str, Any]]) -> list[list[Episode]] | None:
        """All checks in one mode; the episodes that were played, or None where there is no such mode."""
        try:
            env = self.make(autoreset_mode=mode)
        except Exception as error:  # whatever it is, the mode is not offered
            self.report.skip(f"mode {mode.name}: {type(error).__name__}: {str(error)[:200]}")
            return None
        name = mode.name
        self.made = True
        try:
            self.report.name = repr(env)
            there, complaint = _mode_of(env)
            if complaint:
                self.report.add("modes", "", complaint)
            if there is not mode:
                self.report.skip(f"mode {name}: make() gave one of {complaint if there is None else there}")
                return None
            return self._check_env(env, mode, variants)
        except Malformed as error:
            self.report.add("arrays", name, str(error))
            return []
        finally:
            env.close()
            self._closed(env, name)

    def _check_env(
        self, env: VectorEnv[Any, Any, Any], mode: AutoresetMode, variants: Sequence[Mapping[str, Any]]
    ) -> list[list[Episode]]:
        name = mode.name
        self._spaces(env, mode)
        first = self._player(env, mode).play(self.seed, self.calls)
        for check, text in first.complaints:
            self.report.add(check, name, text)
        self._ends(first, name)
        self._arrays(first, env, name)
        self._buffers_kept(first, name)
        repeats = self._seeds(env, first, mode)
        if not self._fresh(first, mode, {}, "seeds", "a fresh environment with the same seed returns other things"):
            repeats = False
        if not repeats:
            # whatever else is compared would differ for that reason
            self.report.skip(
                f"masks, written buffers and workers in mode {name}: the same seed does not give the same again"
            )
            for episode in (one for episodes in first.episodes for one in episodes):
                episode.told = None
            return first.episodes
        for variant in variants:
            self._fresh(first, mode, variant, "workers", f"with {dict(variant)} other things are returned")
        self._scribbled(first, mode)
        self._masks(first, mode)
        return first.episodes

    # ---- one thing each

    def _spaces(self, env: VectorEnv[Any, Any, Any], mode: AutoresetMode) -> None:
        from gymnasium.vector.utils import batch_space

        if getattr(env, "autoreset_mode", mode) is not mode:
            self.report.add("spaces", mode.name, "the attribute autoreset_mode is not what metadata says")
        for name in ("observation", "action"):
            single, batched = getattr(env, f"single_{name}_space"), getattr(env, f"{name}_space")
            if batch_space(single, env.num_envs) != batched:
                self.report.add(
                    "spaces", mode.name, f"{name}_space is not single_{name}_space for {env.num_envs} worlds"
                )

    def _arrays(self, player: Player, env: VectorEnv[Any, Any, Any], mode: str) -> None:
        def add(text: str) -> None:
            self.report.add("arrays", mode, text)

        if not _types_are(env.observation_space, player.returned[0].copied[0]):
            add("observations have another type than observation_space, though it holds their values")
        outside = [
            returned.call for returned in player.returned if not env.observation_space.contains(returned.copied[0])
        ]
        if outside:
            add(f"the observation of {_first_of(outside)} is not in observation_space")
        for returned in player.returned:
            infos = returned.copied[-1]
            for array in arrays_of(returned.live[0]):
                if not array.flags.c_contiguous:
                    add("observations are not C-contiguous")
            self._infos(infos, env.num_envs, mode, "")
            if len(returned.copied) < 5:
                continue
            reward, terminated, truncated = returned.copied[1:4]
            for what, array, kinds in (
                ("rewards", reward, "f"),
                ("terminations", terminated, "b"),
                ("truncations", truncated, "b"),
            ):
                if not isinstance(array, np.ndarray) or array.shape != (env.num_envs,) or array.dtype.kind not in kinds:
                    add(f"{what} are not an array of {env.num_envs} {'floats' if kinds == 'f' else 'booleans'}")
                elif kinds == "f" and not np.all(np.isfinite(array)):
                    add("a reward is not finite")

    def _infos(self, infos: Any, count: int, mode: str, path: str) -> None:
        if not isinstance(infos, dict):
            self.report.add("arrays", mode, f"infos{path} is no dictionary")
            return
        for key, value in infos.items():
            if key.startswith("_"):
                if not isinstance(value, np.ndarray) or value.dtype != np.bool_ or value.shape != (count,):
                    self.report.add("arrays", mode, f"infos{path}[{key!r}] is no mask: {count} booleans")
                continue
            if f"_{key}" not in infos:
                self.report.add("arrays", mode, f"infos{path}[{key!r}] has no mask _{key}")
            if isinstance(value, dict):
                self._infos(value, count, mode, f"{path}[{key!r}]")
            elif np.ndim(value) == 0:
                self.report.add(
                    "arrays", mode, f"infos{path}[{key!r}] is one {type(value).__name__}, not one for each world"
                )
            elif len(value) != count:
                self.report.add("arrays", mode, f"infos{path}[{key!r}] is not of {count} worlds")

    def _ends(self, player: Player, mode: str) -> None:
        over = [sum(episode.is_over for episode in episodes) for episodes in player.episodes]
        if min(over) == 0:
            self.report.skip(
                f"ends of episodes in mode {mode}: {over.count(0)} of {len(over)} worlds played no episode to its "
                f"end in {self.calls} calls"
            )
        space = player.env.single_observation_space
        for world, episodes in enumerate(player.episodes):
            for episode in episodes:
                if (
                    episode.is_over
                    and episode.observations[-1] is not None
                    and not space.contains(episode.observations[-1])
                ):
                    self.report.add(
                        "ends",
                        mode,
                        f"the last observation of an episode of world {world} is not in single_observation_space",
                    )

    def _buffers_kept(self, player: Player, mode: str) -> None:
        changed = [returned.call for returned in player.returned if not same(returned.live, returned.copied)]
        if changed:
            self.report.add("buffers", mode, f"what {_first_of(changed)} returned was changed by a later call")
        shared = [
            after.call
            for before, after in zip(player.returned, player.returned[1:])
            if _share_memory(before.live, after.live)
        ]
        if shared:
            self.report.add(
                "buffers", mode, f"what {_first_of(shared)} returned is the same memory as what the call before did"
            )

    def _scribbled(self, first: Player, mode: AutoresetMode) -> None:
        with self._env(mode) as env:
            player = self._player(env, mode, scribble=True).play(self.seed, self.calls)
            if not _alike(player, first):
                self.report.add("buffers", mode.name, "writing into returned arrays changes what comes later")

    def _seeds(self, env: VectorEnv[Any, Any, Any], first: Player, mode: AutoresetMode) -> bool:
        """Whether the same seed gives the same again."""

        def add(text: str) -> None:
            self.report.add("seeds", mode.name, text)

        repeats = _alike(self._player(env, mode).play(self.seed, self.calls), first)
        if not repeats:
            add("reset with the same seed does not repeat what was returned")
        begun = [first.episodes[world][0].observations[0] for world in range(env.num_envs)]
        other = self._player(env, mode).play(self.seed + 1000, 0)
        again = [episodes[0].observations[0] for episodes in other.episodes]
        unseeded = self._player(env, mode).play(None, 0)
        third = [episodes[0].observations[0] for episodes in unseeded.episodes]
        if same(begun, again) and same(begun, third) and all(same(begun[0], one) for one in begun):
            self.report.skip(f"seeds in mode {mode.name}: every episode begins alike")
            return repeats
        if same(begun, again):
            add("another seed gives the same first observations")
        if env.num_envs > 1 and all(same(begun[0], one) for one in begun[1:]):
            add("all worlds begin alike: they share one stream")
        if same(again, third):
            add("reset without a seed begins the same episodes again")
        if repeats:
            self._lists_of_seeds(env, mode)
        return repeats

    def _begun(self, env: VectorEnv[Any, Any, Any], mode: AutoresetMode, seeds: list[int]) -> list[Any]:
        """First observations of a list of seeds."""
        return [episodes[0].observations[0] for episodes in self._player(env, mode).play(seeds, 0).episodes]

    def _lists_of_seeds(self, env: VectorEnv[Any, Any, Any], mode: AutoresetMode) -> None:
        """One for each world: it, and nothing else, decides how that world begins."""

        def add(text: str) -> None:
            self.report.add("seeds", mode.name, text)

        seeds = [self.seed + 31 * world for world in range(env.num_envs)]
        try:
            begun = self._begun(env, mode, seeds)
        except Exception as error:  # not every environment takes them
            self.report.skip(f"lists of seeds in mode {mode.name}: {type(error).__name__}: {str(error)[:100]}")
            return
        if not same(begun, self._begun(env, mode, seeds)):
            add("reset with the same list of seeds does not begin the same episodes again: it is ignored")
            return
        if same(begun, self._begun(env, mode, [seed + 1000 for seed in seeds])):
            add("another list of seeds gives the same first observations: it is ignored")
            return
        for world in range(min(env.num_envs, WORLDS_SEEDED)):
            # two seeds may begin alike by chance, many do not
            others = [
                self._begun(env, mode, [seed + more * (i == world) for i, seed in enumerate(seeds)])
                for more in (1000, 2000, 3000)
            ]
            if all(same(begun[world], other[world]) for other in others):
                add(f"the seed of world {world} in a list of seeds makes no difference to it")
            if not all(
                same(begun[:world] + begun[world + 1 :], other[:world] + other[world + 1 :]) for other in others
            ):
                add(f"the seed of world {world} in a list of seeds changes how other worlds begin")

    def _fresh(self, first: Player, mode: AutoresetMode, variant: Mapping[str, Any], check: str, text: str) -> bool:
        with self._env(mode, variant) as env:
            is_alike = _alike(self._player(env, mode).play(self.seed, self.calls), first)
        if not is_alike:
            self.report.add(check, mode.name, text)
        return is_alike

    def _closed(self, env: VectorEnv[Any, Any, Any], mode: str) -> None:
        try:
            env.close()
        except Exception as error:
            self.report.add("close", mode, f"closing twice raises {type(error).__name__}: {error}")

    # ---- masks

    def _masks(self, first: Player, mode: AutoresetMode) -> None:
        count = first.count
        bad = {
            "of another length": np.ones(count + 1, dtype=bool),
            "with nothing set": np.zeros(count, dtype=bool),
            "of integers": np.ones(count, dtype=np.int64),
            "that is no array": [True] * count,
        }
        with self._env(mode) as env:
            player = self._player(env, mode)
            player.reset(self.seed)
            try:
                player.reset(None, np.arange(count) == 0)
            except Exception as error:
                self.report.add(
                    "masks",
                    mode.name,
                    f"reset with options['reset_mask'] raises {type(error).__name__}: {str(error)[:100]}",
                )
                return
            for check, text in player.complaints:
                self.report.add(check, mode.name, text)
            if any(check == "masks" for check, _ in player.complaints):
                return
            for what, mask in bad.items():
                try:
                    env.reset(options={"reset_mask": mask})
                except Exception:
                    continue
                self.report.add("masks", mode.name, f"a mask {what} is taken")
            # what was refused has changed nothing, and what the mask left out plays on as if nothing had been
            for _ in range(min(self.calls, 20)):
                player.step()
            for world in range(1, count):
                if not _begins_alike(player.episodes[world], first.episodes[world]):
                    self.report.add("masks", mode.name, f"resetting world 0 alone changes what world {world} does")
        self._stepping_over(mode)

    def _stepping_over(self, mode: AutoresetMode) -> None:
        if mode is not AutoresetMode.DISABLED:
            return
        with self._env(mode) as env:
            player = self._player(env, mode)
            player.reset(self.seed)
            for _ in range(self.calls):
                player.step()
                if any(episodes[-1].is_over for episodes in player.episodes):
                    break
            else:
                return
            player.mode = AutoresetMode.NEXT_STEP  # steps without the reset that is due
            try:
                player.step()
            except Exception:
                return
            self.report.add(
                "masks", mode.name, "a step of a world whose episode is over is taken, although nothing resets it"
            )

    # ---- modes

    def compare_modes(self, played: Mapping[str, list[list[Episode]]]) -> None:
        names = list(played)
        for other in names[1:]:
            for world, (one, two) in enumerate(zip(played[names[0]], played[other])):
                for k, (a, b) in enumerate(zip(one, two)):
                    difference = _difference(a, b)
                    if difference:
                        self.report.add(
                            "modes",
                            "",
                            f"{difference} of episode {k} of world {world} differs between {names[0]} and {other}",
                        )
                        break

    def compare_finals(self, played: Mapping[str, list[list[Episode]]]) -> None:
        """What final_info tells of a last step, other modes tell in infos."""
        name = AutoresetMode.SAME_STEP.name
        mine = played.get(name, [])
        other = next((one for one in played if one != name), None)
        if other is None:
            if any(episode.told for episodes in mine for episode in episodes):
                self.report.skip(f"final_info in mode {name}: there is no other mode to compare it with")
            return
        for world, (one, two) in enumerate(zip(mine, played[other])):
            for k, (a, b) in enumerate(zip(one, two)):
                if a.told is None or b.told is None or _difference(a, b):
                    break
                difference = _final_difference(a.told, a.told_beside, b.told, other)
                if difference:
                    self.report.add("ends", name, f"final_info of world {world}, episode {k}, {difference}")
                    return


def _mode_of(env: VectorEnv[Any, Any, Any]) -> tuple[AutoresetMode | None, str]:
    """What metadata says; else what it is taken for, and what is wrong about that."""
    metadata = getattr(env, "metadata", None)
    given = metadata.get("autoreset_mode") if isinstance(metadata, Mapping) else None
    if isinstance(given, AutoresetMode):
        return given, ""
    if given is None:
        return (
            AutoresetMode.NEXT_STEP,
            "metadata has no autoreset_mode: it is taken for NEXT_STEP, as Gymnasium's wrappers do",
        )
    for mode in AutoresetMode:
        if given in (mode.value, mode.name):
            return mode, f"metadata['autoreset_mode'] is the text {given!r}, not a gymnasium.vector.AutoresetMode"
    return None, f"metadata['autoreset_mode'] is {given!r}, which is no gymnasium.vector.AutoresetMode"


def _final_difference(told: dict[str, Any], beside: dict[str, Any], other: dict[str, Any], name: str) -> str:
    """What final_info has otherwise than infos of another mode, `name`, have of the same step."""
    for key, value in told.items():
        if key not in other:
            return f"has {key!r}, which infos of {name} do not have of the same step"
        if not same(value, other[key]):
            of_next = ": it is that of the next episode" if same(value, beside.get(key)) else ""
            return f"has another {key!r} than infos of {name} have of the same step{of_next}"
    # what stands beside it may be of that step, too
    missing = [key for key in other if key not in told and not same(beside.get(key), other[key])]
    return f"has no {missing[0]!r}, which infos of {name} have of the same step" if missing else ""


def _first_of(calls: Sequence[str]) -> str:
    more = len(calls) - 1
    return calls[0] + (f" (and of {more} other call{'s' * (more > 1)})" if more else "")


def _share_memory(before: Any, after: Any) -> bool:
    numbers = [[array for array in arrays_of(returned) if array.dtype != object] for returned in (before, after)]
    return any(np.shares_memory(one, other) for one in numbers[0] for other in numbers[1])


def _types_are(space: Any, observation: Any) -> bool:
    """Whether arrays are of the types that their spaces say."""
    if isinstance(space, Mapping):
        return isinstance(observation, Mapping) and all(
            _types_are(space[key], observation[key]) for key in space if key in observation
        )
    if isinstance(space, Sequence):
        return all(map(_types_are, space, observation))
    return not isinstance(observation, np.ndarray) or space.dtype is None or observation.dtype == space.dtype


def _difference(a: Episode, b: Episode) -> str:
    """What differs of the same episode, as far as both were played."""
    steps = min(len(a.rewards), len(b.rewards))
    both_over = a.is_over and b.is_over
    if (a.is_over and len(b.rewards) > len(a.rewards)) or (b.is_over and len(a.rewards) > len(b.rewards)):
        return "the length"
    for t in range(steps + 1):
        is_last = t == steps
        if is_last and both_over and not same(a.observations[t], b.observations[t]):
            return "the terminal observation"
        if not same(a.observations[t], b.observations[t]):
            return "the first observation" if t == 0 else f"observation {t}"
    if a.rewards[:steps] != b.rewards[:steps]:
        return "a reward"
    return "how it ended" if both_over and (a.terminated, a.truncated) != (b.terminated, b.truncated) else ""


def _begins_alike(a: list[Episode], b: list[Episode]) -> bool:
    return all(_difference(one, two) == "" for one, two in zip(a, b))


def _alike(a: Player, b: Player) -> bool:
    return len(a.returned) == len(b.returned) and all(
        same(one.copied, two.copied) for one, two in zip(a.returned, b.returned)
    )
