# SPDX-License-Identifier: MIT
"""LeggedLocomotion: what it sees and pays, that its robots stand, and on which terrain they come to be."""

import importlib.metadata
import math

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the environments need Gymnasium (pip install gymnasium)")

import moreau_sim  # noqa: E402
from moreau_sim import check_vector_env  # noqa: E402
from moreau_sim.gym import LeggedLocomotion, Moment, MoreauVectorEnv  # noqa: E402
from moreau_sim.gym.legged import PUP, Robot, Terrain  # noqa: E402
from moreau_sim.gym.legged.curriculum import Curriculum  # noqa: E402

HILLS = [Terrain.hills(0.05 * level, size=8.0) + Terrain.rough(0.01 * level, size=8.0) for level in range(3)]
STILL = ((0.0, 0.0),) * 3


@pytest.fixture(scope="module")
def address():
    with moreau_sim.launch(workers=1) as server:
        yield server.address


@pytest.fixture(scope="module")
def other_address():
    with moreau_sim.launch(workers=7) as server:
        yield server.address


def stand(address, robot, terrain, seconds=2.0):
    """Of 16 worlds that are told to stand and do nothing: what they see at last. None falls."""
    description = LeggedLocomotion(robot, terrain, commands=STILL)
    worlds = MoreauVectorEnv(description, 16, autoreset_mode="Disabled", address=address)
    worlds.reset(seed=3)
    for _ in range(round(seconds / description.time_step)):
        seen, reward, terminated, truncated, _ = worlds.step(np.zeros((16, 12)))
        assert not terminated.any() and not truncated.any()
    feet = worlds.worlds._observation[:, description.at["feet"]]
    worlds.close()
    return description, seen, reward, feet


@pytest.mark.parametrize("terrain", [(), HILLS], ids=["plane", "hills"])
def test_a_pup_stands_for_two_seconds(address, terrain):
    description, seen, reward, feet = stand(address, PUP, terrain)
    # what stands measures g upwards; they have come to rest, but for what creeps under eight sweeps a step
    assert np.linalg.norm(seen[:, 6:9], axis=1) == pytest.approx(1.0, abs=0.05)
    assert np.abs(seen[:, :6]).max() < 0.1
    assert (feet == 1).all()
    # no more is paid than for going as told, with the feet where they belong
    best = sum(description.weights[name] for name in ("velocity", "turn", "gait")) * description.time_step
    assert (reward > 0.8 * best).all() and (reward <= best).all()


def test_a_robot_with_meshes_stands_for_two_seconds(address):
    pytest.importorskip("trimesh", reason="meshes need trimesh (pip install 'moreau-sim[mesh]')")
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("needs example-robot-data")
    go2 = next(file.locate() for file in files if file.name == "go2.urdf")
    legs = [f"{leg}_calf" for leg in ("FL", "FR", "RL", "RR")]
    robot = Robot(go2, "base", legs, {"hip": 0.0, "thigh": 0.8, "calf": -1.5}, 0.335, stiffness=100.0, damping=2.5)
    _, _, _, feet = stand(address, robot, HILLS)
    assert (feet == 1).all()


def test_a_robot_is_pushed_at_random_moments(address):
    """3 N s aside, in one step, on a trunk of 5 kg with its legs, as long as nobody has fallen."""
    pushes = [moreau_sim.push("trunk", 0.2, force=(3, 3), axes=[1], impulse=True)]
    calm, pushed = (
        MoreauVectorEnv(LeggedLocomotion(PUP, commands=STILL, pushes=more), 32, address=address)
        for more in ((), pushes)
    )
    velocity = []
    for worlds in (calm, pushed):
        worlds.reset(seed=3)
        worlds.step(np.zeros((32, 12)))
        velocity.append(worlds.worlds.group.read().observation[:, :3])
        worlds.close()
    begins = [moreau_sim.push_stream(3, world, 0, 0).random() < 0.2 for world in range(32)]
    gained = np.linalg.norm(velocity[1] - velocity[0], axis=1)
    assert any(begins) and np.array_equal(gained > 0, begins)
    # the trunk alone would be 0.7 m/s faster, with stiff legs 0.6, less what the ground takes
    assert (gained[begins] > 0.1).all() and (gained < 1.0).all()


def test_who_has_learned_nothing_goes_as_told(address):
    """The trot that actions are added to: on level ground it comes to within a half of what it is asked for."""
    description = LeggedLocomotion(PUP, commands=((0.5, 0.5), (0.0, 0.0), (0.0, 0.0)), turned=0.0)
    worlds = MoreauVectorEnv(description, 8, autoreset_mode="Disabled", address=address)
    worlds.reset(seed=6)
    infos = [worlds.step(np.zeros((8, 12)))[4] for _ in range(100)]
    # of 0.5 m/s: which it is depends on how feet happen to come down
    speed = np.mean([info["x_velocity"] for info in infos[50:]], axis=0)
    assert (speed > 0.25).all() and (speed < 0.75).all()
    worlds.close()


def test_a_trot_is_its_closed_form():
    """Feet go back as fast as the trunk is to go ahead there, and forward again in the air, lifted by half a sine."""
    robot = PUP.but(lift={"knee": -1.0}, stride={"thigh": -2.0}, sway={"hip": 3.0})
    trot = LeggedLocomotion(robot, gait=2.0).trot
    time = np.array([0.1, 0.1, 0.35, 0.35])
    command = np.array([[0.5, 0.2, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.2, 0.0]])
    hip, thigh, knee = trot.angles(time, command).reshape(4, 4, 3).transpose(2, 0, 1)
    # a turn of 0.5 s: after 0.1 s the first foot is 0.025 s before the middle, the second in the air as much
    back = np.array([0.025, -0.025, -0.025, 0.025])
    assert thigh[0] == pytest.approx(-2.0 * 0.5 * back, abs=1e-15)
    assert hip[0] == pytest.approx(3.0 * 0.2 * back, abs=1e-15)
    assert knee[0] == pytest.approx(-np.sin(0.4 * np.pi) * np.array([0, 1, 1, 0]), abs=1e-15)
    assert not hip[1].any() and not thigh[1].any() and not knee[1].any()
    # half a turn later the others do so; who turns to the left goes back on the left, and his front goes left
    assert thigh[3] == pytest.approx(-thigh[0], abs=1e-15) and hip[3] == pytest.approx(-hip[0], abs=1e-15)
    left, front = np.array([0.13, -0.13, 0.13, -0.13]), np.array([0.16, 0.16, -0.16, -0.16])
    assert thigh[2] == pytest.approx(-2.0 * -left * -back, abs=1e-15)
    assert hip[2] == pytest.approx(3.0 * front * -back, abs=1e-15)


def test_a_reward_is_what_a_hand_computes():
    description = LeggedLocomotion(PUP, gait=2.0, weights={"posture": -0.3})
    numbers = {
        "velocity": [0.5, 0.1, 0.2],
        "spin": [0.3, -0.4, 0.25],
        "force": [0.0, 0.0, 1.0],
        "rotation": [math.cos(0.1), math.sin(0.1), 0.0, 0.0],  # leans by 0.2 rad about x
        "command": [0.8, -0.1, 0.5],
        "time": [0.125],  # a quarter of a turn: the first and the last foot are to be on the ground
        "joints": [0.1] * 12,
        "rates": [0.0] * 12,
        "before": [0.5] * 12,
        "feet": [1, 0, 1, 1],  # one of four is wrong
        "scan": [0.0] * 15,
    }
    row = np.concatenate([numbers[name] for name in description.at])[None]
    extra = np.concatenate([[3.0] * 12, [0.5] * 12, [0.0] * 3])[None]  # a fifth of the torque that there is
    before = np.concatenate([[0.0] * 12, [0.3] * 12, [0.0] * 3])[None]
    never = np.zeros(1, bool)
    moment = Moment(row, extra, before, np.full((1, 12), 0.5), never, never, 0.02)
    paid = 1.5 * math.exp(-4 * (0.3**2 + 0.2**2)) + 0.75 * math.exp(-4 * 0.25**2) + 0.5 * 0.75
    costs = 0.2**2 + 0.05 * (0.3**2 + 0.4**2) + 2.0 * math.sin(0.2) ** 2 + 0.2 * 0.2**2 + 0.1 * 0.2**2 + 0.3 * 0.1**2
    assert description.reward(moment) == pytest.approx(0.02 * (paid - costs), rel=1e-12)
    # who falls about pays for nothing, and earns nothing
    row[0, description.at["velocity"]] = [9.0, 0.0, 5.0]
    assert description.reward(moment) == 0.0
    # of who is told to stand all feet belong on the ground, at any time
    row[0, description.at["command"]] = 0.0
    assert description.terms(moment)["gait"] == 0.75
    assert description.observe(row, extra)[0, 9:18] == pytest.approx(
        [0.0, -math.sin(0.2), -math.cos(0.2), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], abs=1e-15
    )


def test_terrains_are_as_high_as_they_say():
    spacing, count = 0.25, 9
    along = spacing * (np.arange(count) - (count - 1) / 2)
    x, y = np.meshgrid(along, along)
    slope = Terrain(0.3 * x - 0.2 * y, spacing)
    places = np.random.default_rng(4).uniform(-1.0, 1.0, (2, 100))
    assert slope.height(*places) == pytest.approx(0.3 * places[0] - 0.2 * places[1], abs=1e-15)
    for terrain in HILLS:
        assert not terrain.height(*(0.2 * places)).any()  # where robots begin, within FLAT and a cell
    with pytest.raises(ValueError, match="one grid"):
        slope + HILLS[0]


def test_a_scan_is_the_fields_heights_in_any_heading(address):
    grid = ((-1.8, -1.0, -0.4, 0.0, 0.4, 1.1, 1.8), (-1.5, -0.7, 0.0, 0.7, 1.5))
    terrain = Terrain.rough(0.1, size=8.0, seed=2)
    description = LeggedLocomotion(PUP, terrain, scan=grid)
    worlds = MoreauVectorEnv(description, 32, double_precision=True, address=address, autoreset_mode="Disabled")
    worlds.reset(seed=8)
    rng = np.random.default_rng(1)
    x, y = description.scan[:, 0], description.scan[:, 1]
    for step in range(30):
        rows, place = worlds.worlds._observation, worlds.worlds._extra[:, 24:27]
        w, i, j, k = rows[:, description.at["rotation"]].T
        heading = np.arctan2(2 * (i * j + w * k), 1 - 2 * (j * j + k * k))[:, None]
        assert step or np.ptp(heading) > 5.0  # they begin in all directions
        ahead = place[:, :1] + np.cos(heading) * x - np.sin(heading) * y
        aside = place[:, 1:2] + np.sin(heading) * x + np.cos(heading) * y
        expected = terrain.height(ahead, aside) - place[:, 2:] + PUP.height
        # roundings of a turn, over metres; a slope of 2 makes them no larger than this
        assert rows[:, description.at["scan"]] == pytest.approx(expected, abs=1e-12)
        worlds.step(rng.uniform(-1, 1, (32, 12)))
    worlds.close()


def test_commands_are_seen_as_they_were_chosen(address):
    description = LeggedLocomotion(PUP, HILLS)
    worlds = MoreauVectorEnv(description, 3, address=address, double_precision=True)
    noise = worlds.noise
    assert (noise.low[:4] == [0.0, -0.3, -0.3, -0.6]).all() and (noise.high[:4] == [3.0, 0.8, 0.3, 0.6]).all()
    values = np.zeros((3, len(noise)))
    values[:, :4] = [[0.0, 0.5, 0.1, -0.2], [1.0, -0.1, 0.0, 0.3], [2.0, 0.0, 0.0, 0.0]]
    seen, _ = worlds.reset(seed=1, options={"values": values})
    assert np.array_equal(seen[:, 12:15], values[:, 1:4])
    assert np.array_equal(seen[:, 15:18], [[1, 0, 1], [1, 0, 1], [0, 0, 0]])  # who stands has no phase
    info = worlds.step(np.zeros((3, 12)))[4]
    told = np.stack([info[name] for name in ("terrain", "x_command", "y_command", "turn_command")], axis=1)
    assert np.array_equal(told, values[:, :4])
    worlds.close()


def play(address, steps=80, **options):
    description = LeggedLocomotion(PUP, HILLS, curriculum=options.pop("curriculum", True))
    worlds = MoreauVectorEnv(description, 24, address=address, max_episode_steps=30, **options)
    rng = np.random.default_rng(7)
    rows = [worlds.reset(seed=11)[0]]
    for _ in range(steps):
        seen, reward, terminated, truncated, info = worlds.step(rng.uniform(-1, 1, (24, 12)).astype(np.float32))
        rows += [seen, reward, terminated, truncated, info["terrain"]]
    worlds.close()
    return rows


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_rows_repeat_to_the_bit_for_any_number_of_workers(address, other_address, mode):
    first, second = (play(place, autoreset_mode=mode) for place in (address, other_address))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert any(terrain.any() for terrain in first[5::5])  # some have come to the second


def test_a_curriculum_draws_what_the_group_would(address):
    one, other = (play(address, 0, curriculum=is_one)[0] for is_one in (True, False))
    # all but heights, as these begin on terrains that are drawn
    assert np.array_equal(one[:, :-15], other[:, :-15]) and len(np.unique(one[:, 12])) == 24


def test_who_goes_as_told_comes_to_the_next_terrain():
    class Rows:
        worlds, observation = np.arange(4), np.array([0.9, 0.9, 0.45, 0.1])
        terminated = np.array([False, True, False, False])

    noise = LeggedLocomotion(PUP, HILLS).noise
    curriculum = Curriculum(4, 3, noise, lambda paid: paid)
    rng = np.random.default_rng(0)
    seen = []
    for episode in range(6):
        values = np.array([curriculum.draw(world, episode, rng) for world in range(4)])
        assert (values[:, 0] == curriculum.level).all()
        seen.append(curriculum.level.copy())
        curriculum.watch(Rows)
        if episode == 1:  # all but the third are set in the middle
            curriculum.level[[1, 3]] = 2
    # a seed begins on the first, who has mastered all goes on anywhere
    assert [list(level[:3]) for level in seen[:3]] == [[0, 0, 0], [1, 0, 0], [2, 1, 0]]
    assert [level[1] for level in seen] == [0, 0, 1, 0, 0, 0] and [level[3] for level in seen] == [0, 0, 1, 0, 0, 0]
    assert not any(level[2] for level in seen)
    assert list(curriculum.draw(0, 0, rng))[0] == 0


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_a_fleet_walks_as_one_server_does(address, mode):
    """Worlds that begin anew from here, on terrains that go by what they did: the same bits, also where a server is
    lost on the way."""

    def play(lose=None, **place):
        description = LeggedLocomotion(PUP, HILLS, curriculum=True)
        worlds = MoreauVectorEnv(description, 8, autoreset_mode=mode, max_episode_steps=15, **place)
        rows, rng = [worlds.reset(seed=5)[0]], np.random.default_rng(0)
        for call in range(50):
            if call == 22 and lose:
                lose.process.kill()
            rows += worlds.step(rng.uniform(-1, 1, (8, 12)))[:4]
        events = [event.kind for event in worlds.worlds.group.events] if "fleet" in place else []
        worlds.close()
        return rows, events

    with moreau_sim.launch(workers=1) as stays, moreau_sim.launch(workers=1) as goes:
        rows, events = play(goes, fleet=[stays.address, goes.address], shares=4)
    assert "restored" in events
    assert all(np.array_equal(one, other) for one, other in zip(play(address=address)[0], rows))


def test_the_checker_finds_nothing(address):
    def make(autoreset_mode):
        description = LeggedLocomotion(PUP, HILLS, curriculum=True)
        return MoreauVectorEnv(description, 3, address=address, autoreset_mode=autoreset_mode, max_episode_steps=20)

    report = check_vector_env(make)
    assert report.ok, str(report)


def test_its_episodes_are_proven(tmp_path):
    with moreau_sim.launch(db=tmp_path / "episodes.db") as server:
        description = LeggedLocomotion(PUP, HILLS, curriculum=True)
        worlds = MoreauVectorEnv(
            description, 4, address=server.address, autoreset_mode="SameStep", max_episode_steps=25, record="walk"
        )
        worlds.reset(seed=2)
        rng = np.random.default_rng(5)
        for _ in range(60):
            worlds.step(rng.uniform(-1, 1, (4, 12)))
        recording = worlds.worlds.group.recording
        worlds.close()
        with pytest.raises(ValueError, match="depends on those before"):
            MoreauVectorEnv(description, 4, address=server.address, resume=recording)
        with server.client(timeout_s=60.0) as client:
            listed = client.episode_list(recording=recording).episodes
            assert len(listed) >= 8
            for one in listed:
                assert client.episode_verify(episode=one.episode).result().verified


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="there is no 'speed', but velocity, turn"):
        LeggedLocomotion(weights={"speed": 1.0})
    with pytest.raises(ValueError, match="head: the robot has no such body; it has trunk, FL hip"):
        LeggedLocomotion(PUP.but(trunk="head"))
    with pytest.raises(ValueError, match="joint FL knee is named by none of hip, thigh"):
        LeggedLocomotion(PUP.but(stance={"hip": 0.0, "thigh": 0.8}))
