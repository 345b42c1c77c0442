# SPDX-License-Identifier: MIT
"""What single and vector environments share: a group of worlds of a description, and what a step of it means."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError
from numpy.typing import NDArray

from .._owner import Owner, alone
from ..errors import MoreauError
from ..fleet import Fleet
from ..group import Final, Group, Opinions, Rows, channel, joined
from ..protocol import GroupOpinion, GroupPush
from ..protocol import Group as GroupMessage
from .environment import Environment, Moment
from .render import Picture
from .servers import Place
from .starts import DrawnGroup

# a server that says nothing for so long is taken for dead
TIMEOUT_S = 120.0


@dataclass(slots=True)
class Outcome:
    """A step of all worlds."""

    observation: NDArray[Any]  # to act on next: of a world that was reset in this step, its first
    reward: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    began: NDArray[np.bool_] | None  # worlds for which this step only began an episode (NEXT_STEP); None: for none
    info: dict[str, NDArray[Any]]  # of the description
    begun: dict[str, NDArray[Any]]  # of it, on episodes that this step began; none: it began none
    final: Final
    failures: dict[int, str]  # of worlds whose step failed: why
    doubtful: NDArray[np.bool_]  # worlds whose step has bad certificates; none without an opinion
    opinions: Opinions  # on steps some calls ago


class Worlds:
    """A group on a server, for `count` worlds of a description."""

    def __init__(
        self,
        environment: Environment,
        count: int,
        autoreset: str,
        *,
        address: str | None = None,
        token: str | None = None,
        workers: int | None = None,
        timeout_s: float = TIMEOUT_S,
        double_precision: bool | None = None,
        is_drawn: bool = False,
        step_limit: int | None = None,
        record: str | None = None,
        opinion: float | GroupOpinion | None = None,
        pushes: Sequence[GroupPush] | None = None,
        first_world: int = 0,
        resume: str | None = None,
        resume_step: int | None = None,
        fleet: Any = None,
        **of_fleet: Any,
    ) -> None:
        self._owner = Owner("environment")
        self._is_closed = False
        self.environment = environment
        self.count = count
        self.autoreset = autoreset
        self.picture = Picture(environment.scene, environment.camera) if is_drawn else None
        drawn = self.picture.names if self.picture else []
        # of a description that draws how its episodes begin
        starts = environment.starts(count)
        self.step_limit = environment.step_limit if step_limit is None else step_limit  # of an episode
        layout: dict[str, Any] = {
            "name": environment.name,
            "count": count,
            "action": environment.action,
            "observation": environment.observation,
            "extra": [
                *environment.extra,
                *(channel(kind, body) for body in drawn for kind in ("BODY_POSITION", "BODY_ROTATION")),
            ],
            "bounds": environment.bounds,
            "noise": environment.noise,
            "pushes": environment.pushes if pushes is None else pushes,
            "substeps": environment.substeps,
            "step_limit": self.step_limit,
            "autoreset": "DISABLED" if starts is not None else autoreset,
            "double": environment.double_precision if double_precision is None else double_precision,
            "record": record,
            "opinion": opinion,
            "first_world": first_world,
            "seed": int(np.random.SeedSequence().generate_state(1, np.uint64)[0]),
        }
        if resume is not None and starts is not None and not starts.is_memoryless:
            raise ValueError(
                f"resume: how episodes of {environment.name} begin depends on those before, which no recording says"
            )
        if resume is not None and pushes is not None:
            raise ValueError("resume: the recording says what pushes there are; leave pushes out")
        if resume is not None and first_world:
            raise ValueError(
                "resume: the recording says from which world its worlds are counted; leave first_world out"
            )
        self.place: Place | None = None
        self.group: Any  # a Group, a Fleet, or one of them within a DrawnGroup
        if fleet is not None:
            if address is not None or workers is not None or resume is not None:
                raise ValueError(
                    "fleet: it says which servers the worlds are on; leave address, workers and resume out"
                )
            self.group = Fleet(fleet, environment.scene, token=token, **layout, **of_fleet)
        elif of_fleet:
            raise TypeError(f"{next(iter(of_fleet))}: nobody knows this argument without a fleet")
        else:
            self.place = Place(address, token, workers, timeout_s)
            try:
                if resume is not None:
                    self.group = Group.resume(self.place.client, resume, step=resume_step, record=record)
                    self._check_resumed(drawn, layout["autoreset"])
                else:
                    self.group = Group.create(self.place.client, environment.scene, **layout)
            except BaseException:
                self.place.close()
                raise
        if starts is not None:
            self.group = DrawnGroup(self.group, starts, autoreset, layout["seed"], first_world)
        self._extras = len(self.group.extra) - 7 * len(drawn)  # of the description; what follows is for pictures
        self._observation = np.zeros((count, len(self.group.observation)), self.group.dtype)
        self._extra = np.zeros((count, len(self.group.extra)), self.group.dtype)
        self._over = np.zeros(count, np.bool_)  # whose next step only begins an episode (NEXT_STEP)
        self.has_opinion = opinion is not None
        self._return = np.zeros(count)  # of the episodes under way
        self._return_doubtful = np.zeros(count)  # earned in doubtful steps
        self._untold: list[Opinions] = []  # that came with resets
        self._is_next_step = autoreset == "NEXT_STEP"
        self._time_step = environment.time_step
        self._begun = False
        self._is_unseen = resume is not None  # its worlds stand somewhere, and nobody has asked where

    def _check_resumed(self, drawn: Sequence[str], autoreset: str) -> None:
        """What is asked for is what was recorded."""
        resumed = self.group.resumed
        if resumed is None:
            return
        recorded = GroupMessage.Autoreset(resumed.autoreset or 0).name
        if self.group.count != self.count:
            raise ValueError(f"resume: {self.group.count} worlds were recorded, not {self.count} (num_envs)")
        if recorded != autoreset:
            raise ValueError(f"resume: the worlds were recorded with autoreset_mode {recorded}, not {autoreset}")
        if drawn and self.group.extra.names[-1:] != [f"{drawn[-1]}.rotation.z"]:
            raise ValueError("resume: the worlds were recorded without render_mode, and cannot be drawn")

    def close(self) -> None:
        """Ends the worlds. In a fork, which leaves those of its parent alone, nothing is sent."""
        if self._owner.is_here:
            self._end()
        elif self.place is not None:
            self.place.close()
        self._is_closed = True

    @alone
    def _end(self) -> None:
        if self.place is None or self.group.recording:
            with suppress(MoreauError):  # a server that is gone has ended it
                self.group.close()
        if self.place is not None:
            self.place.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ClosedEnvironmentError(f"{self.environment.name}: the environment was closed")

    @alone
    def reset(
        self, mask: NDArray[np.bool_] | None, seed: int | Sequence[int] | None, values: Any = None
    ) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
        """The observations of all worlds, of which those of the mask have begun an episode, and what is said of these.
        The first time after they went on from a recording, and without anything said, none does: they stand where they
        were."""
        self._check_open()
        if self._is_unseen:
            self._look()
            if mask is None and seed is None and values is None:
                return self._see(self._observation, self._extra).copy(), self._begun_of(self._observation, self._extra)
        rows = self.group.reset(mask, seed=seed, values=values)
        self._keep(rows)
        self._over[rows.worlds] = False
        self._return[rows.worlds] = 0.0
        self._return_doubtful[rows.worlds] = 0.0
        self._untold.append(rows.opinions)
        self._begun = self._begun or mask is None
        return self._see(self._observation, self._extra).copy(), self._begun_of(self._observation, self._extra)

    def _see(self, observation: NDArray[Any], extra: NDArray[Any]) -> NDArray[Any]:
        """What the description sees of rows; those of the server, or new ones."""
        return np.asarray(self.environment.observe(observation, extra[:, : self._extras]), self.group.dtype)

    def _begun_of(self, observation: NDArray[Any], extra: NDArray[Any]) -> dict[str, NDArray[Any]]:
        return self.environment.begun(observation, extra[:, : self._extras])

    def _look(self) -> None:
        self._keep(self.group.read())
        self._over = self.group.over() if self._is_next_step else self._over
        self._is_unseen, self._begun = False, True

    def _keep(self, rows: Rows) -> None:
        # arrays that were returned, or shown to the description, are theirs: what is kept is another
        if len(rows.worlds) == self.count:
            self._observation, self._extra = rows.observation.copy(), rows.extra.copy()
        else:
            self._observation, self._extra = self._observation.copy(), self._extra.copy()
            self._observation[rows.worlds], self._extra[rows.worlds] = rows.observation, rows.extra

    @alone
    def step(self, actions: NDArray[Any]) -> Outcome:
        self._check_open()
        if not self._begun:
            raise RuntimeError("step before the first reset: reset() begins the episodes")
        numbers: NDArray[Any] = np.asarray(self.environment.act_on(actions, self._observation))
        began = self._over if self._over.any() else None
        rows = self.group.step(numbers)
        observation, extra = rows.observation, rows.extra
        final = rows.final
        if len(final) and self.autoreset == "SAME_STEP":
            # what rewards are paid for is where the episodes ended, not where the next ones begin
            observation, extra = observation.copy(), extra.copy()
            observation[final.world], extra[final.world] = final.observation, final.extra
        moment = Moment(
            observation,
            extra[:, : self._extras],
            self._extra[:, : self._extras],
            actions,
            rows.terminated,
            rows.truncated,
            self._time_step,
        )
        reward = np.asarray(self.environment.reward(moment), np.float64)
        if began is not None:
            reward[began] = 0.0
        info = self.environment.info(moment)
        self._count_returns(rows, reward)
        self._keep(rows)
        if self._is_next_step:
            self._over = rows.terminated | rows.truncated
        failures = {int(failure.world or 0): failure.message or "" for failure in rows.failures}
        opinions = rows.opinions
        if self._untold:
            opinions, self._untold = joined([*self._untold, opinions]), []
        # of the server's own rows, which are kept, or shown to the description, callers get others
        if len(final):
            final.observation = self._see(final.observation, final.extra)
        begins = began is not None or (len(final) > 0 and self.autoreset == "SAME_STEP")
        return Outcome(
            self._see(rows.observation, rows.extra),
            reward,
            rows.terminated,
            rows.truncated,
            began,
            info,
            self._begun_of(rows.observation, rows.extra) if begins else {},
            final,
            failures,
            rows.doubtful,
            opinions,
        )

    def _count_returns(self, rows: Rows, reward: NDArray[np.float64]) -> None:
        """What episodes earn, of a group whose recording is told."""
        if not self.group.recording:
            return
        self._return += reward
        self._return_doubtful[rows.doubtful] += reward[rows.doubtful]
        world = rows.final.world
        if len(world):
            doubtful = self._return_doubtful[world] if self.has_opinion else None
            self.group.tell_returns(world, self._return[world], doubtful)
            self._return[world] = self._return_doubtful[world] = 0.0

    @alone
    def opinions(self) -> Opinions:
        """Those on the steps so far that nobody has had."""
        self._check_open()
        told: Opinions = self.group.opinions()
        return told

    @alone
    def draw(self, world: int) -> NDArray[np.uint8]:
        """A picture of a world as it was last seen."""
        self._check_open()
        assert self.picture is not None
        return self.picture.draw(self._extra[world, self._extras :].reshape(-1, 7))
