# SPDX-License-Identifier: MIT
"""The Gymnasium environments against a real server, and CartPole against Gymnasium's own."""

import ast
import importlib.util
import os
import pathlib
import socket
import struct
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the environments need Gymnasium (pip install gymnasium)")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import moreau_sim  # noqa: E402
import moreau_sim.gym as environments  # noqa: E402
from moreau_sim import Group, channel, check_vector_env, errors, protocol  # noqa: E402
from moreau_sim._wire import encode  # noqa: E402

# those of Gymnasium's v5: test_gym_v5.py
IDS = [f"moreau_sim/{one.name}-v0" for one in environments.ENVIRONMENTS if one.version == 0]


@pytest.fixture(scope="module")
def address():
    with moreau_sim.launch(workers=2) as server:
        yield server.address


@pytest.fixture(scope="module")
def other_address():
    with moreau_sim.launch(workers=1) as server:
        yield server.address


@pytest.mark.parametrize("id", IDS)
def test_a_single_world_passes_gymnasiums_checker_without_a_warning(address, id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Gymnasium says so of whatever has a namesake of a later version
        warnings.filterwarnings("ignore", message=".*Ant-v0 is out of date.*")
        env = gymnasium.make(id, address=address, render_mode="rgb_array")
        check_env(env.unwrapped)
        env.close()


@pytest.mark.parametrize("id", IDS)
def test_many_worlds_pass_our_checker_whatever_the_workers(address, other_address, id):
    def make(autoreset_mode, where=address):
        # episodes of at most 12 steps: ends by time are seen, too
        return gymnasium.make_vec(id, num_envs=3, address=where, autoreset_mode=autoreset_mode, max_episode_steps=12)

    report = check_vector_env(make, calls=40, variants=[{"where": other_address}])
    assert report.ok and not report.skipped, report


# ---- CartPole is Gymnasium's


def cart_poles(client, count):
    """Our CartPole in doubles, with nothing that ends it."""
    there = environments.CartPole()
    return Group.create(
        client,
        there.scene,
        count=count,
        action=there.action,
        observation=there.observation,
        noise=there.noise,
        double=True,
    )


def test_a_step_of_cart_pole_is_gymnasiums(address):
    reference = gymnasium.make("CartPole-v1").unwrapped
    reference.reset(seed=0)
    rng = np.random.default_rng(1)
    states = rng.uniform([-2.3, -3, -0.2, -3], [2.3, 3, 0.2, 3], (200, 4))
    actions = rng.integers(0, 2, 200)
    with moreau_sim.Client(address) as client, cart_poles(client, 200) as group:
        # noise columns stand in the order of Gymnasium's states, and add to a template that stands at zero
        begun = group.reset(values=states).observation
        assert begun == pytest.approx(states, abs=1e-15)
        ours = group.step(2.0 * actions[:, None] - 1.0).observation
    for state, action, our in zip(states, actions, ours):
        reference.state, reference.steps_beyond_terminated = state, None
        reference.step(int(action))
        assert our == pytest.approx(np.array(reference.state), abs=1e-12)


def test_substeps_of_a_scene_are_as_good_as_those_of_an_environment(address):
    """Carts touch nothing: a world's step in four substeps is four steps, over all ends of episodes and resets."""

    seen = []
    for settings, substeps in ({"substeps": 4}, 1), ({"time_step": 0.005}, 4):
        finer = environments.CartPole()
        finer.scene = {**finer.scene, "settings": {**finer.scene["settings"], **settings}}
        finer.substeps = substeps
        worlds = environments.MoreauVectorEnv(finer, 16, address=address, double_precision=True)
        rows = [worlds.reset(seed=5)[0].copy()]
        ends = 0
        for step in range(150):
            observation, _, terminated, _, _ = worlds.step((np.arange(16) + (step % 3 == 0)) % 2)
            rows.append(observation.copy())
            ends += int(terminated.sum())
        worlds.close()
        assert ends > 16
        seen.append(np.array(rows))
    assert np.array_equal(seen[0], seen[1])


def test_episodes_of_cart_pole_are_gymnasiums(address):
    worlds = gymnasium.make_vec(
        "moreau_sim/CartPole-v0",
        num_envs=20,
        address=address,
        autoreset_mode=AutoresetMode.DISABLED,
        double_precision=True,
    )
    begun, _ = worlds.reset(seed=3)
    rng = np.random.default_rng(2)
    actions = rng.integers(0, 2, (500, 20))
    lengths = np.zeros(20, int)
    seen = [begun]
    over = np.zeros(20, bool)
    while not over.all():
        # those that are over begin again, and are not looked at any more
        observation, reward, terminated, truncated, _ = worlds.step(actions[len(seen) - 1])
        assert np.all(reward == 1.0)
        lengths[~over] += 1
        seen.append(observation)
        over |= terminated | truncated
        if (terminated | truncated).any():
            worlds.reset(options={"reset_mask": terminated | truncated})
    worlds.close()
    reference = gymnasium.make("CartPole-v1").unwrapped
    for world in range(20):
        reference.reset(seed=0)
        reference.state = seen[0][world]
        for step in range(lengths[world]):
            _, _, terminated, _, _ = reference.step(int(actions[step, world]))
            assert seen[step + 1][world] == pytest.approx(np.array(reference.state), abs=1e-9)
            assert terminated == (step == lengths[world] - 1)


# ---- what each description says


def test_friction_decides_where_the_block_stops(address):
    """Once it has left the pusher, what is left of its way is v^2 / (2 mu g)."""
    there = environments.BlockPush()
    channels = [channel("BODY_POSITION", "block", axes=[0]), channel("BODY_VELOCITY", "block", axes=[0])]
    with moreau_sim.Client(address) as client:
        with Group.create(
            client, there.scene, count=3, action=there.action, observation=channels, double=True
        ) as group:
            group.reset()
            for _ in range(8):
                group.step(np.array([[0.4], [0.6], [0.8]]))
            rows = group.step(-np.ones((3, 1)))  # the pusher goes back
            x, v = rows.observation.T
            for _ in range(200):
                rows = group.step(-np.ones((3, 1)))
    assert np.all(v > 0.5)
    # symplectic Euler stops within h v of the closed form
    assert np.all(np.abs(rows.observation[:, 0] - x - v**2 / (2 * 0.4 * 9.81)) < 0.02 * v)
    assert np.all(np.abs(rows.observation[:, 1]) < 1e-6)


def stacked(address, *, lets_go):
    """A script of hand movements, with what the last step says of success and how far from the base the boxes are."""
    worlds = gymnasium.make_vec("moreau_sim/Stack-v0", num_envs=4, address=address)
    seen, _ = worlds.reset(seed=1)
    block, half, up = seen[:, 8], 0.03, 0.2
    for step in range(200):
        at_base = seen[:, 18] + seen[:, 0] - seen[:, 8]
        x = block if step < 105 else at_base if step < 140 else seen[:, 0]
        z = (
            up
            if step < 30
            else 0.034
            if step < 75
            else up
            if step < 140
            else 0.034 + 2 * half
            if step < 182 or not lets_go
            else 0.25
        )
        grip = 1.0 if 60 <= step < (170 if lets_go else 1000) else -1.0
        hand = np.stack([x - seen[:, 0], z - up - seen[:, 1]], axis=1) / 0.04
        actions = np.column_stack([np.clip(hand, -1, 1), np.full((4, 2), grip)]).astype(np.float32)
        seen, reward, _, truncated, infos = worlds.step(actions)
    worlds.close()
    assert truncated.all()
    return infos["success"], np.abs(seen[:, 8:11] - seen[:, 18:21] - [0, 0, 2 * half]).max(axis=1), reward


def test_what_is_stacked_stands_by_itself(address):
    success, off, reward = stacked(address, lets_go=True)
    assert success.all() and np.all(off < 1e-3) and np.all(reward > 9.9)
    # held there it is not stacked
    success, off, reward = stacked(address, lets_go=False)
    assert not success.any() and np.all(off < 1e-3) and np.all(reward < 0.0)


def test_gymnasium_finds_an_environment_by_the_module_in_front_of_its_id(address):
    program = f"""
import gymnasium
for module in ("", "moreau_sim.gym:", ""):
    try:
        gymnasium.make(module + "moreau_sim/Ant-v0", address={address!r}).close()
        print("made")
    except gymnasium.error.NamespaceNotFound:
        print("not there")
gymnasium.make_vec("moreau_sim.gym:moreau_sim/Ant-v0", num_envs=2, address={address!r}).close()
"""
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(moreau_sim.__file__).parents[1])}
    said = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert said.split("\n")[:3] == ["not there", "made", "made"]


def test_the_ant_is_laid_out_as_gymnasiums(address):
    env = gymnasium.make("moreau_sim/Ant-v0", address=address)
    observation, _ = env.reset(seed=1)
    assert observation.shape == (27,) and env.action_space.shape == (8,)
    assert 0.6 < observation[0] < 0.9 and abs(np.linalg.norm(observation[1:5]) - 1.0) < 1e-6
    # the second and third action are leg 4's ankle and leg 1's hip: what is pushed moves
    push = np.zeros(8, np.float32)
    push[2] = 1.0
    env.reset(seed=1)
    there, _, _, _, info = env.step(push)
    still = gymnasium.make("moreau_sim/Ant-v0", address=address)
    still.reset(seed=1)
    idle = still.step(np.zeros(8, np.float32))[0]
    assert np.argmax(np.abs(there - idle)[5:13]) == 0 and "x_velocity" in info
    env.close()
    still.close()


def test_the_ant_weighs_what_gymnasiums_does(address):
    mujoco = pytest.importorskip("mujoco", reason="without MuJoCo nothing is compared with it")
    model = mujoco.MjModel.from_xml_path(
        str(pathlib.Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "ant.xml")
    )
    with moreau_sim.Client(address) as client:
        world = moreau_sim.World.create(client, environments.Ant.scene)
        mass = client.world_get(world=world.id, definition=True).mass
    welded = [sum(model.body_mass[model.body_weldid == body]) for body in sorted(set(model.body_weldid)) if body]
    assert np.sort(mass[mass > 0]) == pytest.approx(np.sort(welded), rel=1e-12)


# ---- pictures


def test_a_picture_shows_what_is_there(address):
    env = gymnasium.make("moreau_sim/CartPole-v0", address=address, render_mode="rgb_array")
    env.reset(seed=0)
    frame = env.render()
    assert frame.dtype == np.uint8 and frame.shape == (240, 320, 3)
    for _ in range(8):
        env.step(1)
    moved = env.render()
    # the cart is of its colour, and has gone to the right
    cart = [
        np.argwhere(abs(one.astype(int) - cart_colour(frame)).sum(axis=2) < 20)[:, 1].mean() for one in (frame, moved)
    ]
    assert cart[1] > cart[0] + 1
    assert np.array_equal(frame, again(address))
    env.close()


def cart_colour(frame):
    """What is in the middle of the cart."""
    rows = np.argwhere((frame[:, 160].astype(int) - frame[0, 0]).any(axis=1))
    return frame[rows[-1][0] - 2, 160].astype(int)


def again(address):
    with gymnasium.make("moreau_sim/CartPole-v0", address=address, render_mode="rgb_array") as env:
        env.reset(seed=0)
        return env.render()


def test_a_sphere_a_box_and_a_capsule_cover_what_they_should():
    camera = environments.Camera(
        position=(0, -10, 0), target=(0, 0, 0), width=200, height=200, angle=2 * np.arctan(0.2)
    )
    for shape, half_width, half_height in (
        ({"sphere": {"radius": 1.0}}, 1.0, 1.0),
        ({"box": {"half_extents": [0.5, 0.01, 1.5]}}, 0.5, 1.5),
        ({"capsule": {"radius": 0.4, "half_length": 1.0}}, 0.4, 1.4),
    ):
        picture = environments.Picture({"bodies": [{"name": "it", "shapes": [shape]}]}, camera)
        frame = picture.draw(np.array([[0, 0, 0, 1.0, 0, 0, 0]]))
        seen = (frame.astype(int) - frame[0, 0]).any(axis=2)
        # 10 m away a metre is 50 pixels; what stands nearer looks larger by a little
        assert seen.any(axis=0).sum() == pytest.approx(100 * half_width, abs=4)
        assert seen.any(axis=1).sum() == pytest.approx(100 * half_height, abs=4)


# ---- what Gymnasium asks of worlds in a vector


def test_worlds_have_what_others_read_of_them(address):
    worlds = gymnasium.make_vec(
        "moreau_sim/CartPole-v0", num_envs=2, address=address, autoreset_mode=AutoresetMode.SAME_STEP
    )
    assert (
        worlds.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        and worlds.autoreset_mode is AutoresetMode.SAME_STEP
    )
    assert worlds.call("step_limit") == (500, 500) and worlds.get_attr("name") == ("CartPole", "CartPole")
    assert isinstance(worlds.single_action_space, gymnasium.spaces.Discrete)
    worlds.close()
    worlds.close()


@pytest.mark.parametrize("place", ["address", "fleet"])
def test_what_is_closed_says_so_as_gymnasium_has_it(address, place):
    where = {"address": address} if place == "address" else {"fleet": [address]}
    drawn = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=2, render_mode="rgb_array", **where)
    single = gymnasium.make("moreau_sim/CartPole-v0", **where, render_mode="rgb_array").unwrapped
    for env, action in ((drawn, np.zeros(2, int)), (single, 0)):
        env.reset(seed=1)
        env.close()
        for call, given in ((env.reset, ()), (env.step, (action,)), (env.render, ())):
            with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="CartPole: the environment was closed"):
                call(*given)
        env.close()


def test_final_info_is_nested_with_masks(address):
    worlds = gymnasium.make_vec(
        "moreau_sim/BlockPush-v0",
        num_envs=2,
        address=address,
        autoreset_mode=AutoresetMode.SAME_STEP,
        max_episode_steps=2,
    )
    worlds.reset(seed=1)
    actions = np.zeros((2, 1), np.float32)
    infos = worlds.step(actions)[4]
    assert infos["_success"].all() and "final_obs" not in infos
    worlds.reset(options={"reset_mask": np.array([True, False])})
    observation, *_, infos = worlds.step(actions)
    assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == [False, True]
    assert infos["final_info"]["_success"].tolist() == [False, True] and infos["_success"].tolist() == [True, False]
    assert infos["final_obs"][0] is None and infos["final_obs"][1].shape == (7,)
    last = environments.seen_last(observation, infos)
    assert np.array_equal(last[0], observation[0]) and np.array_equal(last[1], infos["final_obs"][1])
    assert not np.array_equal(last[1], observation[1]) and environments.seen_last(observation, {}) is observation
    worlds.close()


def test_episodes_may_begin_as_the_caller_says(address):
    worlds = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=3, address=address)
    states = np.arange(12.0).reshape(3, 4) / 1000
    assert len(worlds.unwrapped.noise) == 4 and np.all(worlds.unwrapped.noise.high == 0.05)
    assert worlds.reset(options={"values": states})[0] == pytest.approx(states, abs=1e-8)
    with pytest.raises(ValueError, match="3 x 4"):
        worlds.reset(options={"values": states[:2]})
    worlds.close()
    world = gymnasium.make("moreau_sim/CartPole-v0", address=address)
    assert len(world.unwrapped.noise) == 4
    assert world.reset(seed=3, options={"values": states[1]})[0] == pytest.approx(states[1], abs=1e-8)
    with pytest.raises(ValueError, match="1 x 4"):
        world.reset(options={"values": states})
    world.close()


def test_worlds_have_a_seed_each(address):
    """As in Gymnasium, where a list has one for every world, also for those that a mask does not name."""
    worlds = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=3, address=address)
    alike = {seed: worlds.reset(seed=seed)[0] for seed in (5, 6, 7)}
    for seeds in ([7, 5, 6], (7, 5, 6), np.array([7, 5, 6])):
        assert np.array_equal(worlds.reset(seed=seeds)[0], [alike[seed][world] for world, seed in enumerate([7, 5, 6])])
    mask = {"reset_mask": np.array([False, True, False])}
    assert np.array_equal(worlds.reset(seed=[1, 6, None], options=mask)[0], [alike[7][0], alike[6][1], alike[6][2]])
    assert np.array_equal(worlds.reset(seed=np.int64(5))[0], alike[5])
    for seeds, options in (([1], None), ([1, 2], None), ([], None), ([1, 2, 3, 4], None), ([1], mask)):
        with pytest.raises(ValueError, match=f"3 worlds, not {len(seeds)}"):
            worlds.reset(seed=seeds, options=options)
    # as if nothing had been asked: the next reset begins episode 1 of the last seed
    begun = worlds.reset()[0]
    worlds.reset(seed=5)
    assert np.array_equal(worlds.reset()[0], begun)
    worlds.close()


@pytest.mark.parametrize("place", ["address", "fleet"])
def test_worlds_may_be_counted_from_another_than_the_first(address, place):
    """Of several learners, each has its part of the worlds that one would have."""
    where = {"address": address} if place == "address" else {"fleet": [address]}
    whole = gymnasium.make_vec(
        "moreau_sim/BlockPush-v0", num_envs=5, address=address, max_episode_steps=3, autoreset_mode="SameStep"
    )
    part = gymnasium.make_vec(
        "moreau_sim/BlockPush-v0", num_envs=2, first_world=3, max_episode_steps=3, autoreset_mode="SameStep", **where
    )
    assert np.array_equal(whole.reset(seed=4)[0][3:], part.reset(seed=4)[0])
    actions = np.linspace(-1, 1, 5, dtype=np.float32)[:, None]
    for _ in range(7):
        assert np.array_equal(whole.step(actions)[0][3:], part.step(actions[3:])[0])
    single = gymnasium.make("moreau_sim/CartPole-v0", address=address, first_world=1)
    poles = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=2, address=address)
    seed = int(np.random.default_rng(9).integers(2**32))
    assert np.array_equal(poles.reset(seed=seed)[0][1], single.reset(seed=seed)[0])
    for env in (whole, part, single, poles):
        env.close()
    with pytest.raises(ValueError, match="leave first_world out"):
        gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=2, address=address, resume="pushed", first_world=1)


def test_worlds_are_pushed_at_random_moments(address):
    pushes = [moreau_sim.push("cart", 0.1, force=(5, 10), axes=[0])]
    where = {"num_envs": 64, "address": address, "autoreset_mode": "SameStep"}
    calm, one, other = (
        gymnasium.make_vec("moreau_sim/CartPole-v0", **where, **more)
        for more in ({}, {"pushes": pushes}, {"pushes": pushes})
    )
    starts = [worlds.reset(seed=2)[0] for worlds in (calm, one, other)]
    assert np.array_equal(starts[0], starts[1])
    actions = np.arange(64) % 2
    seen = [worlds.step(actions)[0] for worlds in (calm, one, other)]
    assert np.array_equal(seen[1], seen[2])
    # 20 ms of 5 … 10 N on a cart of 1 kg with a pole: exactly those whose stream says so
    begins = [moreau_sim.push_stream(2, world, 0, 0).random() < 0.1 for world in range(64)]
    gained = np.abs(seen[1][:, 1] - seen[0][:, 1])
    assert any(begins) and np.array_equal(gained > 0, begins) and (gained[begins] > 0.09).all()
    for worlds in (calm, one, other):
        worlds.close()
    with pytest.raises(ValueError, match="leave pushes out"):
        gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=2, address=address, resume="some", pushes=pushes)


EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_has_at_most_sixty_lines(path):
    """Of code: what is empty, a comment or a docstring does not count."""
    tree, text = ast.parse(path.read_text()), path.read_text().splitlines()
    said = set()
    for node in ast.walk(tree):
        first = node.body[0] if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            said |= set(range(first.lineno, first.end_lineno + 1))
    code = [line for number, line in enumerate(text, 1) if number not in said and line.split("#")[0].strip()]
    assert len(code) <= 60


def test_what_is_learnt_balances_the_pole(address):
    """The example, for a few generations of one seed: far beyond what random actions reach."""
    spec = importlib.util.spec_from_file_location("evolve", EXAMPLES / "evolve.py")
    evolve = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(evolve)
    reached, weights, _ = evolve.learn("moreau_sim/CartPole-v0", 0, address, generations=8)
    assert reached > 100.0 and weights.shape == (5,)


def test_several_environments_share_a_server_and_the_last_one_stops_it(monkeypatch):
    from moreau_sim.gym import servers

    monkeypatch.delenv("MOREAU_SERVER", raising=False)
    first, second = (gymnasium.make("moreau_sim/CartPole-v0") for _ in range(2))
    server = servers._own_of_process().server
    assert first.unwrapped.worlds.place.client.address == second.unwrapped.worlds.place.client.address == server.address
    first.close()
    first.close()
    second.reset(seed=1)
    second.close()
    assert server.process.poll() is not None and servers._own_of_process().server is None


# ---- what goes wrong is one clear exception


def test_bad_actions_are_refused_and_nothing_has_stepped(address):
    worlds = gymnasium.make_vec("moreau_sim/BlockPush-v0", num_envs=2, address=address)
    with pytest.raises(RuntimeError, match="reset"):
        worlds.step(np.zeros((2, 1)))
    begun, _ = worlds.reset(seed=1)
    with pytest.raises(ValueError, match="world 1 is not finite"):
        worlds.step(np.array([[0.0], [np.nan]]))
    with pytest.raises(ValueError, match="world 1 is not finite as float32"):
        worlds.step(np.array([[0.0], [1e39]]))
    with pytest.raises(ValueError, match="shape"):
        worlds.step(np.zeros(2))
    poles = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=2, address=address)
    poles.reset(seed=1)
    with pytest.raises(ValueError, match="0 .* or 1"):
        poles.step(np.array([0, 2]))
    # as if nothing had been asked
    after = worlds.step(np.zeros((2, 1)))[0]
    fresh = gymnasium.make_vec("moreau_sim/BlockPush-v0", num_envs=2, address=address)
    assert np.array_equal(fresh.reset(seed=1)[0], begun) and np.array_equal(fresh.step(np.zeros((2, 1)))[0], after)
    for env in (worlds, poles, fresh):
        env.close()


def test_an_address_that_does_not_answer_is_said():
    with pytest.raises(errors.ConnectionLost, match="unix:/nowhere"):
        gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=2, address="unix:/nowhere")
    with pytest.raises(errors.ConnectionLost, match="unix:/nowhere"):
        gymnasium.make("moreau_sim/CartPole-v0", address="unix:/nowhere")


def test_a_server_that_is_gone_is_said_at_once():
    with moreau_sim.launch() as server:
        worlds = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=2, address=server.address)
        worlds.reset(seed=1)
        server.process.kill()
        server.process.wait()
        with pytest.raises(errors.ConnectionLost):
            worlds.step(np.array([0, 1]))
    worlds.close()


def answer(connection, replies):
    """Plays a server of another time: a reply for every request."""
    with connection:
        for reply in replies:
            (count,) = struct.unpack(">I", connection.recv(4, socket.MSG_WAITALL))
            connection.recv(count, socket.MSG_WAITALL)
            payload = encode(reply)
            connection.sendall(struct.pack(">I", len(payload)) + payload)


@pytest.mark.parametrize(
    "replies, error, words",
    [
        (
            [
                protocol.Status(
                    code=protocol.Status.Code.FAILED_PRECONDITION, message="protocol 2.0 is spoken here, not 1.0"
                )
            ],
            errors.FailedPrecondition,
            "protocol 2.0",
        ),
        (
            [None, protocol.Status(code=protocol.Status.Code.UNIMPLEMENTED, message="call 90 is not known")],
            errors.Unimplemented,
            "not known",
        ),
    ],
)
def test_a_server_of_another_version_is_said(replies, error, words):
    listener = socket.create_server(("127.0.0.1", 0))
    said = [
        protocol.Reply(id=number + 1, status=status, welcome=None if status else protocol.Welcome(server_version="0.0"))
        for number, status in enumerate(replies)
    ]
    threading.Thread(target=lambda: answer(listener.accept()[0], said), daemon=True).start()
    with listener, pytest.raises(error, match=words):
        gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=2, address=f"127.0.0.1:{listener.getsockname()[1]}")


def test_training_is_recorded_with_its_returns(tmp_path):
    with moreau_sim.launch(db=tmp_path / "episodes.db") as server:
        envs = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=3, address=server.address, record="training")
        envs.reset(seed=5)
        for _ in range(60):
            envs.step(np.ones(3, np.int64))
        envs.close()
        with server.client() as client:
            episodes = [one for one in client.episode_list(name="training").episodes if one.return_sum is not None]
            # a reward of 1 for every step, the last one included
            assert len(episodes) >= 9 and all(one.return_sum == one.steps for one in episodes)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_training_goes_on_from_its_recording(tmp_path, mode):
    with moreau_sim.launch(db=tmp_path / "episodes.db") as server:

        def make(**more):
            return gymnasium.make_vec(
                "moreau_sim/CartPole-v0", num_envs=3, address=server.address, autoreset_mode=mode, **more
            )

        def play(envs, steps, calls):
            seen = []
            for step in steps:
                seen.append(envs.step(np.full(3, step // 7 % 2)))
                over = seen[-1][2] | seen[-1][3]
                calls += 1
                if mode == "Disabled" and over.any():
                    envs.reset(options={"reset_mask": over})
                    calls += 1
            return seen, calls

        envs = make(record="training")
        envs.reset(seed=5)
        _, calls = play(envs, range(70), 1)
        group = envs.unwrapped.worlds.group
        now, recording = group.read().observation, group.recording
        expected, _ = play(envs, range(70, 100), calls)
        envs.close()
        again = make(resume=recording, resume_step=calls)
        assert again.unwrapped.worlds.group.resumed.step == calls
        first, _ = again.reset()
        assert np.array_equal(first, now)
        for one, other in zip(play(again, range(70, 100), 0)[0], expected):
            assert all(np.array_equal(a, b) for a, b in zip(one[:4], other[:4]))
        again.reset()  # this one begins episodes
        assert not np.array_equal(again.unwrapped.worlds.group.read().observation, first)
        again.close()
        for options, words in (
            ({"render_mode": "rgb_array"}, "render_mode"),
            ({"num_envs": 4}, "num_envs"),
            ({"autoreset_mode": other_than(mode)}, "autoreset_mode"),
        ):
            with pytest.raises(ValueError, match=words):
                gymnasium.make_vec(
                    "moreau_sim/CartPole-v0",
                    **{
                        "num_envs": 3,
                        "address": server.address,
                        "autoreset_mode": mode,
                        "resume": recording,
                        **options,
                    },
                )


def other_than(mode):
    return "NextStep" if mode == "SameStep" else "SameStep"


def test_an_environment_is_viewed_by_its_index(tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    page.write_text("<title>the viewer</title>")
    monkeypatch.setenv("MOREAU_VIEWER", str(page))
    with moreau_sim.launch(http=True) as server:
        worlds = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=3, address=server.address)
        one = gymnasium.make("moreau_sim/CartPole-v0", address=server.address)
        assert moreau_sim.view(worlds, 2, show=False).endswith(f"&group={worlds.unwrapped.worlds.group.id}&index=2")
        assert moreau_sim.view(one, show=False).endswith(f"&group={one.unwrapped.worlds.group.id}&index=0")
        worlds.close()
        one.close()


def test_a_fleet_learns_the_same(server):
    """A vector environment on two servers, one of which is killed, against one of the same seeds on one."""
    with moreau_sim.launch(workers=1) as first, moreau_sim.launch(workers=1) as second:
        one = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=130, address=server.address)
        other = gymnasium.make_vec(
            "moreau_sim/CartPole-v0", num_envs=130, fleet=[first.address, second.address], save_every=8
        )
        assert len(other.unwrapped.worlds.group.shares) == 2
        assert np.array_equal(one.reset(seed=4)[0], other.reset(seed=4)[0])
        one.action_space.seed(1)
        for call in range(40):
            if call == 20:
                second.process.kill()
            actions = one.action_space.sample()
            for a, b in zip(one.step(actions)[:4], other.step(actions)[:4]):
                assert np.array_equal(a, b)
        one.close()
        other.close()
    with moreau_sim.launch(workers=1) as first, moreau_sim.launch(workers=1) as second:
        worlds = gymnasium.make_vec(
            "moreau_sim/CartPole-v0",
            num_envs=128,
            fleet=[first.address, second.address],
            on_loss="TRUNCATE",
            autoreset_mode="SameStep",
        )
        before = worlds.reset(seed=4)[0]
        second.process.kill()
        second.process.wait()
        _, rewards, terminated, truncated, infos = worlds.step(np.zeros(128, int))
        assert truncated.sum() == 64 and not terminated.any() and np.array_equal(infos["_final_obs"], truncated)
        assert np.array_equal(np.stack(list(infos["final_obs"][truncated])), before[truncated])
        assert np.isfinite(rewards).all()
        worlds.close()
    with pytest.raises(ValueError, match="leave address"):
        gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=4, fleet=["127.0.0.1:1"], address="127.0.0.1:1")
    with pytest.raises(TypeError, match="lost_after"):
        gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=4, address=server.address, lost_after_s=1.0)


LEG = """<robot name="leg">
<link name="hip"><inertial><mass value="3"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
<link name="shank"><inertial><origin xyz="0 0 -0.2"/><mass value="1"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 -0.4"/><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="knee" type="revolute"><parent link="hip"/><child link="shank"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="20" velocity="10"/></joint></robot>"""


def leg_file(folder):
    path = folder / "leg.urdf"
    path.write_text(LEG)
    return path


def high(moment):
    return moment.observation[:, 0] - 0.01 * np.square(moment.action).sum(axis=1)


def test_an_environment_of_a_file_needs_no_class(address, tmp_path):
    path = leg_file(tmp_path)
    seat = [channel("BODY_POSITION", "hip", axes=[2], low=-0.05)]
    options = {"free_base": True, "ground": True, "reward": high, "terminate": seat, "step_limit": 30}
    options |= {"noise": [moreau_sim.uniform("JOINT_POSITION", "knee", -0.1, 0.1)], "address": address}
    env = environments.from_file(path, **options)
    names = env.worlds.group.observation.names
    assert names[:2] == ["hip.position.z", "hip.rotation.w"] and names[-2:] == ["knee.position", "knee.velocity"]
    assert env.action_space.low.tolist() == [-1] and env.action_space.high.tolist() == [1]
    assert env.environment.action[0].scale == 20
    assert env.environment.time_step == pytest.approx(0.02) and env.environment.imported.controls[0].name == "knee"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*observation space m.*infinity")  # a robot may go anywhere
        check_env(env, skip_render_check=True)
    env.close()

    def make(autoreset_mode):
        return environments.from_file(path, num_envs=3, autoreset_mode=autoreset_mode, **options)

    report = check_vector_env(make, calls=40)
    assert report.ok, report
    worlds = environments.from_file(path, num_envs=2, **options)
    observation, _ = worlds.reset(seed=1)
    action = np.array([[0.15], [-1.0]], np.float32)
    after, reward, terminated, _, _ = worlds.step(action)
    assert reward == pytest.approx(after[:, 0] - 0.01 * action[:, 0] ** 2)
    ends = 0
    for _ in range(40):
        after, _, terminated, truncated, _ = worlds.step(action * 0)
        ends += int((terminated | truncated).sum())
    assert ends == 2 and np.isfinite(after).all()
    worlds.close()
    own = environments.from_file(path, normalized=False, **options)
    assert own.action_space.low.tolist() == [-20] and own.action_space.high.tolist() == [20]
    own.close()


def test_what_a_file_does_not_say_is_asked_for(address, tmp_path):
    path = leg_file(tmp_path)
    with pytest.raises(TypeError, match="reward: say what"):
        environments.from_file(path)
    with pytest.raises(TypeError, match="terminate a list of channels"):
        environments.from_file(path, reward=high, terminate=lambda moment: moment.terminated)
    scene = tmp_path / "ball.json"
    scene.write_text('{"bodies": [{"name": "ball", "position": [0, 0, 1], "shapes": [{"sphere": {"radius": 0.1}}]}]}')
    with pytest.raises(ValueError, match="ball.json has no actuators"):
        environments.from_file(scene, reward=high)
    push = [channel("BODY_FORCE", "ball", low=-1, high=1)]
    env = environments.from_file(scene, reward=high, action=push, settings={"time_step": 0.01}, address=address)
    assert env.environment.substeps == 2 and env.reset(seed=1)[0][0] == 1.0
    env.close()
    path.write_text(LEG.replace('link="shank"/><axis', 'link="shank"/><safety_controller soft_lower_limit="0"/><axis'))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        environments.from_file(path, reward=high, address=address).close()
