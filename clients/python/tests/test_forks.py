# SPDX-License-Identifier: MIT
"""Episodes of a pushed group that anybody forks at any step, and goes on with by ordinary calls: what the group did to
its worlds, actions and pushes, is done again by hand, and they are where they were, to the bit; or under another
solver, in a recording that is proven in turn."""

import numpy as np
import pytest
from test_fleet_company import TURN, turned

from moreau_sim import Group, channel, parameter, push, push_stream, uniform
from moreau_sim.world import World

COUNT, CALLS, LIMIT, SUBSTEPS, TIME_STEP, SCALE = 3, 36, 14, 3, 0.005, 0.3
SOLVERS = ["mdp", "lcp", "ccp", "sap", "compliant"]
# along one axis each: a direction of more has sines, whose last bit is not NumPy's
PUSHES = [
    push("near", 0.1, force=(1.0, 700.0), torque=(0.0, 0.2), steps=4, axes=[0]),
    push("far", 0.06, force=120.0, steps=3, axes=[1]),
    push("near", 0.1, force=(0.0, 0.05), steps=2, axes=[2], impulse=True),
]
BODIES, FLAG = {"near": 2, "far": 3}, 4  # ids


def scene(solver):
    """Two boxes on the ground, where they fall asleep, one with a flag, in a fluid."""

    def body(name, x):
        return {
            "name": name,
            "position": turned([x, 0, 0.1]),
            "orientation": TURN.tolist(),
            "shapes": [{"box": {"half_extents": [0.2, 0.15, 0.1]}}],
        }

    return {
        "settings": {
            "time_step": TIME_STEP,
            "gravity": turned([0, 0, -9.81]),
            "solver": solver,
            "sleep_speed": 0.05,
            "sleep_time": 0.03,
            "fluid_density": 30.0,
            "fluid_viscosity": 0.2,
        },
        "bodies": [
            {"name": "ground", "kind": "STATIC", "orientation": TURN.tolist(), "shapes": [{"plane": {}}]},
            body("near", 0.0),
            body("far", 0.8),
            {
                "name": "flag",
                "position": turned([1.2, 0, 0.6]),
                "orientation": TURN.tolist(),
                "mass": 0.4,
                "inertia": [0.002, 0.003, 0.004, 0, 0, 0],
            },
        ],
        "joints": [
            {
                "name": "pole",
                "body_a": "far",
                "body_b": "flag",
                "axis": turned([0.2, 1, 0]),
                "anchor": turned([0.9, 0, 0.4]),
                "friction": [0.2],
            }
        ],
    }


def layout(autoreset):
    return {
        "action": [channel("BODY_TORQUE", "far", axes=[1], scale=SCALE)],
        "observation": [channel("BODY_POSITION", "near"), channel("BODY_SPIN", "far")],
        "bounds": [channel("BODY_POSITION", "near", axes=[0], low=-0.05, high=0.05)],
        "noise": [uniform("BODY_VELOCITY", "far", -0.02, 0.02)],
        "parameters": [
            parameter("BODY_MASS", "far", np.linspace(5.0, 20.0, COUNT)),
            parameter("BODY_CENTER_OF_MASS", "far", np.outer(np.linspace(-0.05, 0.05, COUNT), [1.0, 0.5, 0.2])),
            parameter("BODY_CENTER_OF_MASS", "flag", np.outer(np.linspace(-0.1, 0.1, COUNT), [0.3, 0.5, 1.0])),
        ],
        "pushes": PUSHES,
        "step_limit": LIMIT,
        "substeps": SUBSTEPS,
        "autoreset": autoreset,
        "double": True,
        "record": "pushed",
    }


def drawn(of, stream):
    """Force and torque of a push, where one begins (protocol.GroupPush)."""
    numbers = stream.random(8).tolist()
    wrench = np.zeros(6)
    if numbers.pop(0) < of.probability:
        share = 1.0 / (of.steps * (SUBSTEPS * TIME_STEP)) if of.impulse else 1.0
        axis = of.axes.bit_length() - 1
        for first, low, high in ((0, of.force_low, of.force_high), (3, of.torque_low, of.torque_high)):
            if high > 0.0:
                size = share * (low + (high - low) * numbers.pop(0))
                wrench[first + axis] = -size if numbers.pop(0) < 0.5 else size
    return wrench


def pushed(one, step):
    """By body, all pushes that are under way in a step of an episode."""
    total = {name: np.zeros(6) for name in BODIES}
    for index, of in enumerate(PUSHES):
        for begun in range(max(0, step - of.steps + 1), step + 1):
            total[of.body] += drawn(of, push_stream(one.seed, one.world_index, one.turn, begun, index))
    return {BODIES[name]: wrench for name, wrench in total.items() if wrench.any()}


def go_on(world, one, first, torques):
    """Takes an episode's steps from one on; the hash behind each."""
    hashes = [world.hash()]
    for step in range(first, one.steps):
        wrenches = pushed(one, step)
        wrenches.setdefault(BODIES["far"], np.zeros(6))[4] += torques[step]
        hashes.append(int(world.step(SUBSTEPS, wrenches=wrenches, hashes=True).hash[0]))
    return hashes


def fork(client, episode, step):
    made = client.episode_fork(episode=episode, step=step)
    return World(client, made.world, made.name, np.empty(0))


def play(group, autoreset):
    """Steps some of its worlds at a time; the torques of each episode, by world and turn."""
    torques = {}
    turn, begins = np.zeros(COUNT, int), np.zeros(COUNT, bool)
    group.reset(seed=7)
    for call in range(CALLS):
        mask = (np.arange(COUNT) + call) % 4 != 0
        actions = np.sin(np.arange(COUNT) + call)
        rows = group.step(actions[mask, None], mask)
        group.tell_returns(rows.final.world, np.ones(len(rows.final)))
        for world in rows.worlds[~begins[rows.worlds]].tolist():
            torques.setdefault((world, turn[world]), []).append(SCALE * actions[world])
        begins[rows.worlds] = False
        begins[rows.final.world] = autoreset == "NEXT_STEP"
        turn[rows.final.world] += 1
    return torques


@pytest.mark.parametrize("solver, autoreset", zip(SOLVERS, ["NEXT_STEP", "SAME_STEP"] * 3))
def test_what_was_pushed_goes_on_by_hand(client, solver, autoreset):
    with Group.create(client, scene(solver), count=COUNT, **layout(autoreset)) as group:
        torques = play(group, autoreset)
        recording = group.recording
    episodes = [one for one in client.episode_list(count=1000).episodes if one.episode[:24] == recording[:24]]
    ended = [one for one in episodes if one.steps > 1]
    assert len(ended) > COUNT and {one.steps for one in ended} != {LIMIT}
    assert any(pushed(one, step) for one in ended for step in range(one.steps))
    for one in ended:
        mine = torques[one.world_index, one.turn]
        whole = go_on(fork(client, one.episode, 0), one, 0, mine)
        for first in range(1, one.steps + 1, 5):
            assert go_on(fork(client, one.episode, first), one, first, mine) == whole[first:]
    world = fork(client, ended[0].episode, ended[0].steps // 2)
    world.set(solver=SOLVERS[SOLVERS.index(solver) - 1])
    with world.record() as episode:
        go_on(world, ended[0], ended[0].steps // 2, torques[ended[0].world_index, ended[0].turn])
        # with centres that lie elsewhere, other masses, less of what is there, and other gravity
        client.world_set(world=world.id, ids=[BODIES["far"], FLAG], mass=[7.0, 0.3])
        world.step(5)
        world.set(gravity=turned([1.0, 0, -5.0]))
        world.step(5)
        client.world_remove(world=world.id, bodies=[FLAG], joints=[1])
        world.step(5)
        client.world_remove(world=world.id, bodies=[BODIES["far"]])
        world.step(5)
        last = world.hash()
    assert client.episode_verify(episode=episode).result().verified
    assert fork(client, episode, None).hash() == last
