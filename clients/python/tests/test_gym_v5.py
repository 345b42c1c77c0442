# SPDX-License-Identifier: MIT
"""The environments of Gymnasium's MuJoCo v5: what they are, without MuJoCo; with it, that they are those."""

import copy
import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the environments need Gymnasium (pip install gymnasium)")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import moreau_sim  # noqa: E402
from moreau_sim import Group, check_vector_env  # noqa: E402
from moreau_sim.gym import v5  # noqa: E402

NAMES = [one.name for one in v5.ENVIRONMENTS]
CLASSES = {one.name: one for one in v5.ENVIRONMENTS}
WALKS = {"x_position", "y_position", "distance_from_origin", "x_velocity", "y_velocity"}
WALKS |= {"reward_forward", "reward_ctrl", "reward_contact", "reward_survive"}
# of each: numbers seen, numbers of an action, its bound, seconds a step, steps of an episode, info of a step
LAYOUTS = {
    "InvertedPendulum": (4, 1, 3.0, 0.04, 1000, {"reward_survive"}),
    "InvertedDoublePendulum": (
        9, 1, 1.0, 0.05, 1000, {"reward_survive", "distance_penalty", "velocity_penalty"},
    ),
    "Hopper": (
        11, 3, 1.0, 0.008, 1000,
        {"x_position", "z_distance_from_origin", "x_velocity", "reward_forward", "reward_ctrl", "reward_survive"},
    ),
    "Walker2d": (
        17, 6, 1.0, 0.008, 1000,
        {"x_position", "z_distance_from_origin", "x_velocity", "reward_forward", "reward_ctrl", "reward_survive"},
    ),
    "Reacher": (10, 2, 1.0, 0.02, 50, {"reward_dist", "reward_ctrl"}),
    "Pusher": (23, 7, 2.0, 0.05, 100, {"reward_dist", "reward_ctrl", "reward_near"}),
    "Ant": (105, 8, 1.0, 0.05, 1000, WALKS),
    "Humanoid": (348, 17, 0.4, 0.015, 1000, WALKS | {"tendon_length", "tendon_velocity"}),
    "HalfCheetah": (17, 6, 1.0, 0.05, 1000, {"x_position", "x_velocity", "reward_forward", "reward_ctrl"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def address():
    with moreau_sim.launch(workers=2) as server:
        yield server.address


@pytest.fixture(scope="module")
def other_address():
    with moreau_sim.launch(workers=1) as server:
        yield server.address


@pytest.fixture(scope="module")
def recorded_address(tmp_path_factory):
    with moreau_sim.launch(db=tmp_path_factory.mktemp("db") / "episodes.db", workers=2) as server:
        yield server.address


# ---- that they go on

MIDDLE = 17  # after it some steps of the second episode, of episodes of 12


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("name", NAMES)
def test_worlds_go_on_in_the_middle_with_the_same_steps(recorded_address, name, mode):
    def make(**more):
        where = {"address": recorded_address, "autoreset_mode": mode, "max_episode_steps": 12}
        return gymnasium.make_vec(f"moreau_sim/{name}-v5", num_envs=3, **where, **more)

    whole, stopped = make(first_world=2), make(first_world=2, record=f"{name} {mode}")
    rng = np.random.default_rng(8)
    actions = [whole.action_space.low * rng.uniform(-1, 1, whole.action_space.shape) for _ in range(2 * MIDDLE)]
    assert np.array_equal(whole.reset(seed=5)[0], stopped.reset(seed=5)[0])
    for action in actions[:MIDDLE]:
        seen = whole.step(action)
        assert np.array_equal(seen[0], stopped.step(action)[0])
    recording = stopped.unwrapped.worlds.group.recording
    stopped.close()
    again = make(resume=recording)
    first, _ = again.reset()
    assert np.array_equal(first, seen[0])
    ends = 0
    for action in actions[MIDDLE:]:
        one, other = whole.step(action), again.step(action)
        for a, b in zip(one[:4], other[:4]):
            assert np.array_equal(a, b)
        assert one[4].keys() == other[4].keys()
        assert all(np.array_equal(one[4][key], other[4][key]) for key in one[4] if not key.startswith("final"))
        ends += int((one[2] | one[3]).sum())
    assert ends >= 3
    # reset() begins the same episodes, too
    assert np.array_equal(whole.reset()[0], again.reset()[0])
    whole.close()
    again.close()


# ---- what they are


@pytest.mark.parametrize("name", NAMES)
def test_a_single_world_passes_gymnasiums_checker(address, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # as of Gymnasium's own: what is seen has no bounds, and some actions go beyond 1
        warnings.filterwarnings("ignore", message=".*(infinity|symmetric and normalized).*")
        env = gymnasium.make(f"moreau_sim/{name}-v5", address=address, render_mode="rgb_array")
        check_env(env.unwrapped)
        env.close()


@pytest.mark.parametrize("name", NAMES)
def test_many_worlds_pass_our_checker_whatever_the_workers(address, other_address, name):
    def make(autoreset_mode, where=address):
        return gymnasium.make_vec(
            f"moreau_sim/{name}-v5", num_envs=3, address=where, autoreset_mode=autoreset_mode, max_episode_steps=3
        )

    report = check_vector_env(make, calls=8, variants=[{"where": other_address}])
    assert report.ok and not report.skipped, report


@pytest.mark.parametrize("name", NAMES)
def test_layouts_are_as_they_are_written_down(address, name):
    seen, acts, bound, seconds, steps, keys = LAYOUTS[name]
    with gymnasium.make(f"moreau_sim/{name}-v5", address=address) as env:
        assert env.observation_space == gymnasium.spaces.Box(-np.inf, np.inf, (seen,), np.float64)
        assert env.action_space == gymnasium.spaces.Box(-bound, bound, (acts,), np.float32)
        assert env.unwrapped.environment.time_step == pytest.approx(seconds, rel=1e-12)
        assert env.spec.max_episode_steps == steps
        env.reset(seed=1)
        assert set(env.step(env.action_space.sample())[4]) == keys


@pytest.mark.parametrize("name", NAMES)
def test_part_of_the_worlds_is_what_they_are_in_the_whole(address, name):
    id, options = f"moreau_sim/{name}-v5", {"address": address, "autoreset_mode": "SameStep", "max_episode_steps": 4}
    whole = gymnasium.make_vec(id, num_envs=5, **options)
    part = gymnasium.make_vec(id, num_envs=2, first_world=3, **options)
    rng = np.random.default_rng(3)
    seen, told = whole.reset(seed=4)
    again, told_again = part.reset(seed=4)
    for _ in range(9):
        assert np.array_equal(seen[3:], again)
        assert all(np.array_equal(told[key][3:], told_again[key]) for key in told if "final" not in key)
        # beyond their bounds, too, where they do no more
        actions = 1.5 * rng.uniform(whole.action_space.low, whole.action_space.high)
        (seen, _, _, _, told), (again, _, _, _, told_again) = whole.step(actions), part.step(actions[3:])
    whole.close()
    part.close()


def test_numbers_of_gymnasiums_arguments_count(address):
    options = {"frame_skip": 2, "ctrl_cost_weight": 0.5, "exclude_current_positions_from_observation": False}
    with gymnasium.make("moreau_sim/Hopper-v5", address=address, terminate_when_unhealthy=False, **options) as env:
        seen, told = env.reset(seed=1)
        assert seen.shape == (12,) and told == {"x_position": seen[0], "z_distance_from_origin": seen[1] - 1.25}
        fell = []
        for _ in range(200):
            seen, reward, terminated, _, told = env.step(np.ones(3, np.float32))
            fell.append(told["reward_survive"] == 0.0)
            assert not terminated and told["reward_ctrl"] == -1.5
            assert reward == pytest.approx(told["reward_forward"] - 1.5 + told["reward_survive"])
        assert fell[-1] and not fell[0]


# ---- that they are Gymnasium's


@pytest.fixture
def mujoco(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it writes a log where it stands
    pytest.importorskip("gymnasium.envs.mujoco.mujoco_rendering", reason="pip install 'gymnasium[mujoco]'")
    return pytest.importorskip("mujoco", reason="without MuJoCo nothing is compared with it")


def states(reference, rng, count):
    """Positions within limits, and velocities."""
    m = reference.model
    low, high = reference.init_qpos - 1.0, reference.init_qpos + 1.0
    limited = m.jnt_limited.astype(bool)
    low[m.jnt_qposadr[limited]], high[m.jnt_qposadr[limited]] = m.jnt_range[limited].T
    position = rng.uniform(np.maximum(low, -3.0), np.minimum(high, 3.0), (count, m.nq))
    if m.jnt_type[0] == 0:
        position[:, 3:7] /= np.linalg.norm(position[:, 3:7], axis=1, keepdims=True)
    return position, rng.normal(size=(count, m.nv))


def state(environment, rows):
    """Of rows of the server: positions and velocities as MuJoCo has them."""
    return np.concatenate(environment.split(rows), axis=1)


@pytest.mark.parametrize("name", NAMES)
def test_spaces_and_terms_are_gymnasiums(mujoco, address, name):
    """What is seen, paid and said where a step ends is what Gymnasium makes of the same state."""
    ours = gymnasium.make(f"moreau_sim/{name}-v5", address=address)
    reference = gymnasium.make(f"{name}-v5")
    assert ours.observation_space == reference.observation_space and ours.action_space == reference.action_space
    assert ours.spec.max_episode_steps == reference.spec.max_episode_steps
    assert ours.spec.reward_threshold == reference.spec.reward_threshold
    reference, rng = reference.unwrapped, np.random.default_rng(2)
    assert ours.unwrapped.environment.time_step == pytest.approx(reference.dt, rel=1e-12)
    assert set(reference.reset(seed=1)[1]) == set(ours.reset(seed=1)[1])
    environment, worlds = ours.unwrapped.environment, ours.unwrapped.worlds
    for _ in range(40):
        # in doubles, as sums of squares of floats are rounded otherwise by each NumPy
        action = rng.uniform(ours.action_space.low, ours.action_space.high)
        seen, reward, terminated, _, told = ours.step(action)
        reference.data.ctrl[:] = action
        reference.set_state(*(part[0] for part in environment.split(worlds._observation)))
        if name in ("Ant", "Humanoid"):
            # contacts are the server's own: what is made of them is compared
            width = environment.bodies.width
            reference.data.cfrc_ext[1:] = environment.bodies.read(worlds._extra[:, :width]).contact()[0]
        assert seen == pytest.approx(reference._get_obs(), rel=1e-12, abs=1e-12)
        paid, terms = rewards(reference, action, told, terminated)
        assert reward == pytest.approx(paid, abs=1e-12)
        for key, number in terms.items():
            assert told[key] == pytest.approx(number, abs=1e-12), key
        if terminated:
            ours.reset()
    assert set(reference.step(action)[4]) == set(told)
    ours.close()
    reference.close()


def rewards(reference, action, told, terminated):
    """As Gymnasium's step has them, for the state that it is in."""
    name = type(reference).__name__
    if name == "InvertedPendulumEnv":
        return float(not terminated), {"reward_survive": int(not terminated)}
    if name == "InvertedDoublePendulumEnv":
        x, _, y = reference.data.site_xpos[0]
        assert terminated == (y <= 1)
        return reference._get_rew(x, y, terminated)
    if name in ("ReacherEnv", "PusherEnv"):
        assert not terminated
        return reference._get_rew(action)
    healthy = getattr(reference, "is_healthy", True)
    assert terminated == (not healthy)
    return reference._get_rew(told["x_velocity"], action)


def alone(scene):
    """The scene without what touches, and without limits."""
    free = copy.deepcopy(scene)
    for body in free["bodies"]:
        for shape in body["shapes"]:
            shape.update(group=0, mask=0)
    for joint in free["joints"]:
        for column in ("low", "high"):
            joint.pop(column, None)
    return free


def stepped(client, environment, position, velocity, actions, *, time_step=None, substeps=None, **settings):
    """Positions and velocities after each of the actions, from such states, where nothing touches."""
    scene = alone(environment.scene)
    scene["settings"] |= settings
    layout = {"action": environment.action, "observation": environment.observation, "noise": environment.noise}
    layout |= {"substeps": substeps or environment.substeps, "time_step": time_step, "double": True}
    with Group.create(client, scene, count=len(position), **layout) as group:
        group.reset(values=environment.values(position, velocity))
        return np.array([state(environment, group.step(action).observation) for action in actions])


@pytest.mark.parametrize("name", NAMES)
def test_accelerations_are_mujocos(mujoco, address, name):
    reference = gymnasium.make(f"{name}-v5").unwrapped
    m, d = reference.model, reference.data
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    environment, rng, h = CLASSES[name](), np.random.default_rng(5), 1e-7
    position, velocity = states(reference, rng, 20)
    actions = rng.uniform(m.actuator_ctrlrange[:, 0], m.actuator_ctrlrange[:, 1], (20, m.nu))
    with moreau_sim.Client(address) as client:
        # in a step this short a velocity changes by the acceleration to 1e-8 of it, and rounding is as small
        after = stepped(
            client, environment, position, velocity, [actions], time_step=h, substeps=1, integrator="EXPLICIT"
        )[0]
    ours = (after[:, m.nq :] - velocity) / h
    for k in range(20):
        d.qpos[:], d.qvel[:], d.ctrl[:] = position[k], velocity[k], actions[k]
        mujoco.mj_forward(m, d)
        assert np.abs(ours[k] - d.qacc).max() < 1e-6 * max(np.abs(d.qacc).max(), 1.0)


def played(mujoco, reference, position, velocity, actions):
    """What MuJoCo comes to, as stepped() has it."""
    d, steps = reference.data, []
    for world in range(len(position)):
        mujoco.mj_resetData(reference.model, d)
        d.qpos[:], d.qvel[:] = position[world], velocity[world]
        for action in actions[:, world]:
            d.ctrl[:] = action
            mujoco.mj_step(reference.model, d, nstep=reference.frame_skip)
            steps.append(np.concatenate([d.qpos, d.qvel]))
    return np.array(steps).reshape(len(position), len(actions), -1).swapaxes(0, 1)


# under RK4 both have the classical four stages, of which only rounding is left; how much of that 100 steps make, which
# for pendulums that tumble is a thousand million times as much, MuJoCo says itself, begun 1e-13 beside
@pytest.mark.parametrize("name", [one for one in NAMES if one not in ("HalfCheetah", "Ant", "Humanoid")])
def test_hundred_steps_of_one_scheme_are_mujocos(mujoco, address, name):
    reference = gymnasium.make(f"{name}-v5").unwrapped
    m = reference.model
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    environment, rng = CLASSES[name](), np.random.default_rng(6)
    position, velocity = states(reference, rng, 10)
    position, velocity = reference.init_qpos + 0.1 * (position - reference.init_qpos), 0.1 * velocity
    actions = 0.1 * rng.uniform(m.actuator_ctrlrange[:, 0], m.actuator_ctrlrange[:, 1], (100, 10, m.nu))
    with moreau_sim.Client(address) as client:
        ours = stepped(client, environment, position, velocity, actions)
    theirs = [
        played(mujoco, reference, position + off, velocity, actions) for off in (0.0, rng.normal(0, 1e-13, m.nq))
    ]
    for world in range(10):
        grown = np.abs(theirs[1] - theirs[0])[:, world].max()
        assert np.abs(ours - theirs[0])[:, world].max() < max(grown, 1e-12)


@pytest.mark.parametrize("name, seconds", [("HalfCheetah", 0.2), ("Ant", 0.2), ("Humanoid", 0.1)])
def test_two_schemes_come_to_one_as_steps_become_short(mujoco, address, name, seconds):
    """Springs, and what turns freely, are stepped by other rules than MuJoCo's: with half the step they differ by half
    as much, or less, and at none by nothing."""
    reference = gymnasium.make(f"{name}-v5").unwrapped
    m = reference.model
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    environment, rng = CLASSES[name](), np.random.default_rng(8)
    position, velocity = states(reference, rng, 4)
    actions = rng.uniform(m.actuator_ctrlrange[:, 0], m.actuator_ctrlrange[:, 1], (1, 4, m.nu))
    off = []
    with moreau_sim.Client(address) as client:
        for h in (0.004, 0.002, 0.001, 0.0005):
            count = round(seconds / h)
            ours = stepped(client, environment, position, velocity, actions, time_step=h, substeps=count)
            m.opt.timestep, reference.frame_skip = h, count
            theirs = played(mujoco, reference, position, velocity, actions)
            off.append(ours - theirs)
    sizes = [np.abs(one).max() for one in off]
    assert sizes[0] < 1.0 and all(after < max(0.6 * size, 1e-8) for size, after in zip(sizes, sizes[1:]))
    # without what goes with the step itself a quarter is left each time, where it is not of a higher order anyway
    rest = [np.abs(2 * after - one).max() for one, after in zip(off, off[1:])]
    assert rest[2] < max(0.3 * rest[1], 1e-8)


@pytest.mark.parametrize("name", ["Ant", "Humanoid"])
def test_what_lies_is_carried_by_its_contacts(address, name):
    """Their forces add up to its weight, and their torques about its centre of mass to none."""
    options = {"address": address, "terminate_when_unhealthy": False}
    with gymnasium.make(f"moreau_sim/{name}-v5", **options) as env:
        env.reset(seed=1)
        for _ in range(400):
            env.step(np.zeros(env.action_space.shape, np.float32))
        environment, worlds = env.unwrapped.environment, env.unwrapped.worlds
        felt = environment.bodies.read(worlds._extra[:, : environment.bodies.width]).contact()[0]
        weight = 9.81 * environment.bodies.mass.sum()
        assert felt.sum(axis=0)[3:] == pytest.approx([0.0, 0.0, weight], abs=1e-3 * weight)
        assert felt.sum(axis=0)[:3] == pytest.approx([0.0, 0.0, 0.0], abs=1e-3 * weight)
