# SPDX-License-Identifier: MIT
"""Threads and forked processes that come to what is another's: one clear exception at once, and nothing is
disturbed."""

import multiprocessing
import threading
import time

import numpy as np
import pytest

import moreau_sim
from moreau_sim import Fleet, Group, World, channel, errors, launch

SLIDER = {
    "settings": {"time_step": 0.01, "gravity": [0, 0, 0]},
    "bodies": [{"name": "cart", "mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}],
    "joints": [{"name": "rail", "kind": "SLIDER", "body_b": "cart", "axis": [1, 0, 0]}],
}
PUSHED = {
    "action": [channel("JOINT_EFFORT", "rail", low=-8, high=8)],
    "observation": [channel("JOINT_VELOCITY", "rail")],
}
PUSH = np.ones((4, 1))


def make(client, **more):
    group = Group.create(client, SLIDER, count=4, **PUSHED, **more)
    group.reset(seed=1)
    return group


def in_fork(*calls):
    """What the calls raise, one behind the other, in a process that ends like those of SubprocVecEnv."""
    context = multiprocessing.get_context("fork")
    told = context.SimpleQueue()

    def run():
        for call in calls:
            try:
                call()
                told.put(None)
            except Exception as error:
                told.put((type(error).__name__, str(error)))

    process = context.Process(target=run)
    process.start()
    raised = [told.get() for _ in calls]
    process.join(30.0)
    assert process.exitcode == 0
    return raised


def assert_foreign(raised, what):
    name, text = raised
    assert (
        name == "InUse"
        and text.startswith(f"this {what} ")
        and "belongs to process" in text
        and "makes its own" in text
    )


# ---- threads


def busy(thing, call):
    """A thread that is in a call on a thing, and what the call gave."""
    given = []
    thread = threading.Thread(target=lambda: given.append(call()), name="the first")
    thread.start()
    while thread.is_alive() and thing._owner._thread != thread.ident:
        time.sleep(0.001)
    return thread, given


def test_a_thread_that_comes_to_a_connection_in_use_is_told_at_once(client):
    with make(client, substeps=150_000) as group:
        thread, given = busy(client, lambda: group.step(PUSH))
        with pytest.raises(errors.InUse, match="connection .* is in a call of thread 'the first'"):
            client.ping()
        assert thread.is_alive()  # at once
        thread.join()
        assert np.isfinite(given[0].observation).all() and client.ping() is not None


def test_a_thread_that_comes_to_a_fleet_in_use_is_told_at_once(server):
    with Fleet([server.address], SLIDER, count=4, substeps=150_000, **PUSHED) as fleet:
        fleet.reset(seed=1)
        thread, given = busy(fleet, lambda: fleet.step(PUSH))
        for call in (fleet.read, fleet.save, lambda: fleet.step(PUSH), fleet.close):
            with pytest.raises(errors.InUse, match="fleet is in a call of thread 'the first'"):
                call()
        thread.join()
        assert np.array_equal(fleet.read().observation, given[0].observation)


@pytest.mark.parametrize("where", ["address", "fleet"])
def test_a_thread_that_comes_to_an_environment_in_use_is_told_at_once(server, where):
    gymnasium = pytest.importorskip("gymnasium")
    import moreau_sim.gym as environments

    inside, go = threading.Event(), threading.Event()

    class Slow(environments.CartPole):
        def reward(self, moment):
            inside.set()
            go.wait(30.0)
            return super().reward(moment)

    place = {"address": server.address} if where == "address" else {"fleet": [server.address]}
    worlds = environments.MoreauVectorEnv(Slow(), 3, **place)
    single = environments.MoreauEnv(Slow(), address=server.address)

    def come_between(env, action):
        env.reset(seed=1)
        inside.clear()
        go.clear()
        thread, given = busy(env.worlds, lambda: env.step(action))
        assert inside.wait(30.0)
        for call in (env.reset, lambda: env.step(action), env.close):
            with pytest.raises(errors.InUse, match="environment is in a call of thread 'the first'"):
                call()
        go.set()
        thread.join()
        assert len(given[0]) == 5
        env.step(action)
        env.close()
        with pytest.raises(gymnasium.error.ClosedEnvironmentError):
            env.step(action)

    come_between(worlds, np.zeros(3, int))
    come_between(single, 0)


# ---- processes


def test_a_fork_that_comes_to_a_connection_is_told_and_disturbs_nothing(client):
    with make(client, record="kept") as group, make(client) as straight:
        world = World.create(client, SLIDER)

        def record():
            with recorded:
                pass

        recorded = world.record("forked")
        recorded.__enter__()
        pending = group.begin_step(None, np.ones((4, 1), np.float32))
        raised = in_fork(
            client.ping,
            lambda: group.step(PUSH),
            pending.fields,
            group.close,
            lambda: recorded.__exit__(None, None, None),
            client.close,
        )
        for one in raised[:3]:
            assert_foreign(one, "connection")
        assert raised[3:] == [None, None, None]  # which send nothing
        first, second = pending.fields(), group.step(PUSH)
        assert first and np.array_equal(second.observation, [straight.step(PUSH), straight.step(PUSH)][1].observation)
        world.step()
        recorded.__exit__(None, None, None)


def test_a_fork_that_comes_to_a_fleet_is_told_and_disturbs_nothing(server):
    with Fleet([server.address], SLIDER, count=4, **PUSHED) as fleet:
        fleet.reset(seed=1)
        raised = in_fork(lambda: fleet.step(PUSH), fleet.save, fleet.close)
        assert_foreign(raised[0], "fleet")
        assert_foreign(raised[1], "fleet")
        assert raised[2] is None
        assert fleet.step(PUSH).observation == pytest.approx(np.full((4, 1), 0.005))


@pytest.mark.parametrize("where", ["own", "workers", "fleet"])
def test_a_fork_that_comes_to_an_environment_is_told_and_disturbs_nothing(monkeypatch, server, where):
    gymnasium = pytest.importorskip("gymnasium")
    import moreau_sim.gym  # noqa: F401

    monkeypatch.delenv("MOREAU_SERVER", raising=False)
    place = {"own": {}, "workers": {"workers": 1}, "fleet": {"fleet": [server.address]}}[where]
    actions = np.zeros(2, int)
    worlds = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=2, **place)
    straight = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=2)
    for env in (worlds, straight):
        env.reset(seed=1)
    raised = in_fork(worlds.reset, lambda: worlds.step(actions), worlds.close)
    for one in raised[:2]:
        assert_foreign(one, "environment")
    assert raised[2] is None
    assert np.array_equal(worlds.step(actions)[0], straight.step(actions)[0])
    worlds.close()
    straight.close()


def work(remote, make_env):
    """As Stable-Baselines3's SubprocVecEnv has it."""
    env = make_env()
    while True:
        what, value = remote.recv()
        if what == "close":
            env.close()
            remote.close()
            return
        remote.send(env.reset(seed=value) if what == "reset" else env.step(value))


@pytest.mark.parametrize("is_one_there", [False, True])
def test_environments_of_forked_processes_leave_the_parents_alone(monkeypatch, is_one_there):
    gymnasium = pytest.importorskip("gymnasium")
    import moreau_sim.gym  # noqa: F401

    monkeypatch.delenv("MOREAU_SERVER", raising=False)

    def make_env():
        return gymnasium.make("moreau_sim/CartPole-v0")

    mine = make_env() if is_one_there else None
    begun = mine.reset(seed=1)[0] if mine else None
    context = multiprocessing.get_context("fork")
    workers = []
    for _ in range(2):
        remote, of_worker = context.Pipe()
        process = context.Process(target=work, args=(of_worker, make_env), daemon=True)
        process.start()
        workers.append((process, remote))
    seen = []
    for what, value in (("reset", 1), ("step", 0)):
        for _, remote in workers:
            remote.send((what, value))
        seen.append([remote.recv()[0] for _, remote in workers])
    for process, remote in workers:
        remote.send(("close", None))
        process.join(30.0)
        assert process.exitcode == 0
    for observations in seen:
        assert np.array_equal(*observations)
    if mine:
        assert np.array_equal(begun, seen[0][0]) and np.array_equal(mine.step(0)[0], seen[1][0])
    later = make_env()
    assert np.array_equal(later.reset(seed=1)[0], seen[0][0])
    for env in (mine, later):
        if env:
            env.close()
    env = gymnasium.vector.AsyncVectorEnv([make_env] * 2, context="fork")
    assert np.array_equal(env.reset(seed=[1, 1])[0][1], seen[0][0])
    env.close()
    later = make_env()
    assert np.array_equal(later.reset(seed=1)[0], seen[0][0])
    later.close()


def test_a_fork_has_a_connection_of_its_own():
    with launch(workers=1) as server:
        with server.client() as client:

            def other():
                with server.client() as own:
                    own.ping()
                    World.create(own, SLIDER).step(3)

            assert in_fork(other, server.stop) == [None, None]
            assert client.ping() is not None and moreau_sim.Client(server.address).ping() is not None
