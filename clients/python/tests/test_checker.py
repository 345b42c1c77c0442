# SPDX-License-Identifier: MIT
"""The checker of vector environments: it passes what is sound, and names what was broken on purpose."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the checker needs Gymnasium (pip install gymnasium)")

from gymnasium.vector import AutoresetMode, VectorWrapper  # noqa: E402

from moreau_sim import __main__  # noqa: E402
from moreau_sim.checker import CheckFailed, check_vector_env  # noqa: E402

COUNT = 3


def cart_poles(autoreset_mode, **_):
    options = {"autoreset_mode": autoreset_mode}
    return gymnasium.make_vec("CartPole-v1", num_envs=COUNT, vectorization_mode="sync", vector_kwargs=options)


class Broken(VectorWrapper):
    """A sound environment, until a class below breaks it."""

    @property
    def autoreset_mode(self):
        return self.env.autoreset_mode


class ReusesItsBuffer(Broken):
    def step(self, actions):
        observation, *rest = self.env.step(actions)
        self.buffer = getattr(self, "buffer", np.empty_like(observation))
        self.buffer[:] = observation
        return (self.buffer, *rest)


class HandsOutItsState(Broken):
    def __init__(self, env):
        super().__init__(env)
        env.copy = False


class ReturnsTheResetAsFinal(Broken):
    def step(self, actions):
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        for world in np.flatnonzero(infos.get("_final_obs", [])):
            infos["final_obs"][world] = observation[world].copy()
        return observation, reward, terminated, truncated, infos


class ReturnsTheLastButOne(Broken):
    def reset(self, **how):
        self.last = self.env.reset(**how)
        self.last = (self.last[0].copy(), self.last[1])
        return self.env_copy(self.last)

    def env_copy(self, last):
        return last[0].copy(), last[1]

    def step(self, actions):
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        for world in np.flatnonzero(infos.get("_final_obs", [])):
            infos["final_obs"][world] = self.last[0][world]
        self.last = (observation.copy(), infos)
        return observation, reward, terminated, truncated, infos


class ForgetsTheFinal(Broken):
    def step(self, actions):
        *rest, infos = self.env.step(actions)
        return (*rest, {key: value for key, value in infos.items() if "final" not in key})


class HasNoMasks(Broken):
    def step(self, actions):
        *rest, infos = self.env.step(actions)
        return (*rest, infos | {"extra": np.zeros(COUNT)})


class IgnoresSeeds(Broken):
    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=None, options=options)


class RepeatsItself(Broken):
    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=3 if options is None else None, options=options)


class BeginsAlike(Broken):
    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=None if seed is None else [seed] * COUNT, options=options)


class IgnoresListsOfSeeds(Broken):
    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=11 if isinstance(seed, list) else seed, options=options)


class DrawsListsOfSeedsAnew(Broken):
    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=None if isinstance(seed, list) else seed, options=options)


class GivesListsToTheFirst(Broken):
    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=seed[0] if isinstance(seed, list) else seed, options=options)


class ReseedsNumPy(Broken):
    def reset(self, *, seed=None, options=None):
        if seed is not None:
            np.random.seed(seed[0] if isinstance(seed, list) else seed)
        return self.env.reset(seed=seed, options=options)


class DrawsFromNumPy(Broken):
    def step(self, actions):
        np.random.uniform()
        return self.env.step(actions)


class TellsTheHeight(Broken):
    """Sound: infos have a number of the observation."""

    def reset(self, **how):
        observation, infos = self.env.reset(**how)
        mask = (how.get("options") or {}).get("reset_mask", np.ones(COUNT, dtype=bool))
        return observation, infos | {"height": observation[:, 2].copy(), "_height": mask.copy()}

    def told(self, observation, infos):
        height, ended = observation[:, 2].copy(), infos.get("_final_obs", np.zeros(COUNT, dtype=bool))
        if ended.any():
            final = height.copy()
            final[ended] = [one[2] for one in infos["final_obs"][ended]]
            infos["final_info"] = {"height": final, "_height": ended.copy()}
        return infos | {"height": height, "_height": np.ones(COUNT, dtype=bool)}

    def step(self, actions):
        observation, *rest, infos = self.env.step(actions)
        return (observation, *rest, self.told(observation, infos))


class TellsTheHeightOfTheNext(TellsTheHeight):
    def told(self, observation, infos):
        infos = super().told(observation, infos)
        if "final_info" in infos:
            infos["final_info"]["height"] = infos["height"].copy()
        return infos


class TellsTheHeightBefore(TellsTheHeight):
    before = 0.0

    def told(self, observation, infos):
        infos = super().told(observation, infos)
        if "final_info" in infos:
            infos["final_info"]["height"] = self.before
        self.before = observation[:, 2].copy()
        return infos


class ForgetsTheHeight(TellsTheHeight):
    def told(self, observation, infos):
        infos = super().told(observation, infos)
        if "final_info" in infos:
            infos["final_info"] = {}
        return infos


class IgnoresMasks(Broken):
    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=seed)


class ClearsMasks(Broken):
    def reset(self, *, seed=None, options=None):
        returned = self.env.reset(seed=seed, options=options and dict(options))
        if options:
            options["reset_mask"][:] = False
        return returned


class ObservesInDoubles(Broken):
    def step(self, actions):
        observation, *rest = self.env.step(actions)
        return (observation.astype(np.float64), *rest)

    def reset(self, *, seed=None, options=None):
        observation, infos = self.env.reset(seed=seed, options=options)
        return observation.astype(np.float64), infos


class TellsOneNumber(Broken):
    def step(self, actions):
        *rest, infos = self.env.step(actions)
        return (*rest, infos | {"speed": 3.0, "_speed": np.ones(COUNT, dtype=bool)})


class HasNoTruncations(Broken):
    def step(self, actions):
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        return observation, reward, terminated | truncated, infos


class PaysTwoOfThree(Broken):
    def step(self, actions):
        observation, reward, *rest = self.env.step(actions)
        return (observation, reward[:2], *rest)


class ResetsLikeOldGym(Broken):
    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=seed, options=options)[0]


class PaysForResets(Broken):
    def step(self, actions):
        observation, reward, *rest = self.env.step(actions)
        return (observation, np.ones_like(reward), *rest)


class RewardsAreIntegers(Broken):
    def step(self, actions):
        observation, reward, *rest = self.env.step(actions)
        return (observation, reward.astype(int), *rest)


class RoundsUnderOneMode(Broken):
    def step(self, actions):
        observation, *rest = self.env.step(actions)
        return (np.round(observation, 3) if self.env.autoreset_mode is AutoresetMode.DISABLED else observation, *rest)


class ClosesOnce(Broken):
    def close(self):
        if getattr(self, "was_closed", False):
            raise RuntimeError("closed already")
        self.was_closed = True
        self.env.close()


class NamesItsMode(Broken):
    """The mode as a string, as make_vec takes it."""

    def __init__(self, env):
        super().__init__(env)
        self.metadata = env.metadata | {"autoreset_mode": env.metadata["autoreset_mode"].value}


class HasNoMode(Broken):
    def __init__(self, env):
        super().__init__(env)
        self.metadata = {key: value for key, value in env.metadata.items() if key != "autoreset_mode"}


class InventsAMode(Broken):
    def __init__(self, env):
        super().__init__(env)
        self.metadata = env.metadata | {"autoreset_mode": "Sometimes"}


class HasNoMetadata(Broken):
    metadata = None

    def __init__(self, env):
        super().__init__(env)
        self.metadata = None


@pytest.mark.parametrize("wrapper", [lambda env: env, TellsTheHeight])
def test_gymnasiums_own_worlds_are_as_they_should_be(wrapper):
    report = check_vector_env(lambda autoreset_mode: wrapper(cart_poles(autoreset_mode)))
    assert report.ok and not report.skipped
    assert "as it should be" in str(report)


@pytest.mark.parametrize(
    "wrapper, check, words",
    [
        (ReusesItsBuffer, "buffers", "same memory"),
        (HandsOutItsState, "buffers", "changed by a later call"),
        (ReturnsTheResetAsFinal, "ends", "first observation of its next"),
        (ReturnsTheLastButOne, "modes", "the terminal observation"),
        (ForgetsTheFinal, "ends", "no final_obs"),
        (HasNoMasks, "arrays", "no mask _extra"),
        (IgnoresSeeds, "seeds", "does not repeat"),
        (RepeatsItself, "seeds", "another seed"),
        (BeginsAlike, "seeds", "share one stream"),
        (IgnoresListsOfSeeds, "seeds", "another list of seeds"),
        (DrawsListsOfSeedsAnew, "seeds", "same list of seeds"),
        (GivesListsToTheFirst, "seeds", "seed of world"),
        (ReseedsNumPy, "seeds", "reset changes NumPy's global generator"),
        (DrawsFromNumPy, "seeds", "step changes NumPy's global generator"),
        (TellsTheHeightOfTheNext, "ends", "it is that of the next episode"),
        (TellsTheHeightBefore, "ends", "has another 'height' than infos"),
        (ForgetsTheHeight, "ends", "has no 'height'"),
        (NamesItsMode, "modes", "metadata['autoreset_mode'] is the text"),
        (HasNoMode, "modes", "metadata has no autoreset_mode"),
        (InventsAMode, "modes", "'Sometimes'"),
        (HasNoMetadata, "modes", "metadata has no autoreset_mode"),
        (IgnoresMasks, "masks", "passed over"),
        (ClearsMasks, "masks", "changed the mask"),
        (ObservesInDoubles, "arrays", "another type"),
        (TellsOneNumber, "arrays", "is one float, not one for each world"),
        (HasNoTruncations, "arrays", "returned 4 things"),
        (PaysTwoOfThree, "arrays", "rewards of shape (2,)"),
        (ResetsLikeOldGym, "arrays", "not a tuple of observations and infos"),
        (PaysForResets, "ends", "has a reward"),
        (RewardsAreIntegers, "arrays", "rewards"),
        (RoundsUnderOneMode, "modes", "differs between"),
        (ClosesOnce, "close", "closing twice"),
    ],
)
def test_what_is_broken_is_named(wrapper, check, words):
    with pytest.raises(CheckFailed) as failed:
        check_vector_env(lambda autoreset_mode: wrapper(cart_poles(autoreset_mode)), calls=60)
    found = [problem for problem in failed.value.report.problems if problem.check == check and words in problem.text]
    assert found, failed.value


@pytest.mark.parametrize("wrapper, check", [(ReusesItsBuffer, "buffers"), (IgnoresSeeds, "seeds")])
def test_a_defect_is_not_told_as_many(wrapper, check):
    report = check_vector_env(lambda autoreset_mode: wrapper(cart_poles(autoreset_mode)), calls=60, raises=False)
    # neither once for each call, nor as all that follows of it; but for episodes of two modes, which differ
    assert {problem.check for problem in report.problems} - {"modes"} == {check}
    assert len(report.problems) <= 12
    assert any("same seed" in text for text in report.skipped) == (check == "seeds")


@pytest.mark.parametrize("wrapper, modes", [(NamesItsMode, 3), (HasNoMode, 1), (HasNoMetadata, 1), (InventsAMode, 0)])
def test_a_mode_that_is_said_badly_is_one_line_for_each(wrapper, modes):
    """What is played all the same is as it should be: a text that Gymnasium knows, and what Gymnasium takes for
    NEXT_STEP."""
    report = check_vector_env(lambda autoreset_mode: wrapper(cart_poles(autoreset_mode)), calls=60, raises=False)
    assert [problem.check for problem in report.problems] == ["modes"], report
    assert sum("mode " in text for text in report.skipped) == 3 - modes


def test_a_final_info_that_nothing_compares_with_is_said():
    def make(autoreset_mode):
        if autoreset_mode is not AutoresetMode.SAME_STEP:
            raise ValueError("one mode alone")
        return TellsTheHeightOfTheNext(cart_poles(autoreset_mode))

    report = check_vector_env(make, calls=60, raises=False)
    assert report.ok and any("final_info" in text for text in report.skipped)


def test_the_checker_leaves_numpys_global_generator_alone():
    np.random.seed(5)
    expected = np.random.RandomState(5).uniform(size=3)
    check_vector_env(lambda autoreset_mode: ReseedsNumPy(cart_poles(autoreset_mode)), calls=10, raises=False)
    assert np.array_equal(np.random.uniform(size=3), expected)


def test_a_variant_that_changes_what_is_returned_is_named():
    def make(autoreset_mode, workers=1):
        env = cart_poles(autoreset_mode)
        return RewardsAreIntegers(env) if workers > 2 else env

    assert check_vector_env(make, variants=[{"workers": 2}], calls=60).ok
    report = check_vector_env(make, variants=[{"workers": 4}], calls=60, raises=False)
    assert {problem.check for problem in report.problems} == {"workers"}


def test_a_mode_that_is_not_there_is_said():
    def make(autoreset_mode):
        return gymnasium.make_vec("CartPole-v1", num_envs=COUNT, vectorization_mode="vector_entry_point")

    report = check_vector_env(make, raises=False)
    # Gymnasium's own vectorised CartPole: its observations are transposed, and it passes over masks
    assert {problem.check for problem in report.problems} == {"arrays", "masks"}
    assert any("SAME_STEP" in text for text in report.skipped)
    with pytest.raises(ValueError, match="no autoreset mode"):
        check_vector_env(lambda autoreset_mode: 1 / 0)


def test_episodes_that_do_not_end_are_said():
    report = check_vector_env(cart_poles, calls=3)
    assert any("no episode to its end" in text for text in report.skipped)


def test_the_command_says_what_it_found(capsys):
    assert __main__.main(["check-vector", "CartPole-v1", "--sync", "--calls", "40"]) == 0
    assert "as it should be" in capsys.readouterr().out
    assert __main__.main(["check-vector", "CartPole-v1", "--calls", "40"]) == 4
    assert "PROBLEM" in capsys.readouterr().out
    assert __main__.main(["check-vector", "Nothing-v1"]) == 1
    assert "Nothing" in capsys.readouterr().err
