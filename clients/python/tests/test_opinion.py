# SPDX-License-Identifier: MIT
"""Second opinions against a real server: which steps, what they say where the answer is known, and that they change
nothing."""

import numpy as np
import pytest

import moreau_sim
from moreau_sim import Group, channel, errors, opinion_stream
from moreau_sim import protocol as p

STEP, FALL = 0.01, 0.0981  # [s], [m/s] that a free body gains in a step


def slider(solver="ccp", **parameters):
    """A box of 1 kg on ground."""
    box = {"box": {"half_extents": [0.5, 0.5, 0.1]}}
    return {
        "settings": {"time_step": STEP, "gravity": [0, 0, -9.81], "solver": solver, "parameters": {solver: parameters}},
        "materials": [{"name": "rough", "friction": 0.5}],
        "bodies": [
            {"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}, "material": "rough"}]},
            {"name": "box", "mass": 1.0, "position": [0, 0, 0.1], "shapes": [{**box, "material": "rough"}]},
        ],
    }


LAYOUT = {
    "action": [channel("BODY_FORCE", "box", axes=[0], low=-1e4, high=1e4)],
    "observation": [channel("BODY_VELOCITY", "box"), channel("BODY_POSITION", "box")],
}


def make(client, scene, count=8, **more):
    return Group.create(
        client,
        scene,
        count=count,
        double=True,
        **{**LAYOUT, "step_limit": 20, "seed": 5, "autoreset": "SAME_STEP", **more},
    )


def all_of(group, steps, push=lambda world, step: 100.0 + 10.0 * world + step):
    """Rows of `steps` steps, and all opinions on them."""
    rows = [group.reset(seed=5)]
    for step in range(steps):
        rows.append(group.step(np.array([[push(world, step)] for world in range(group.count)])))
    opinions = [one.opinions for one in rows] + [group.opinions()]
    return rows, opinions


def joined(opinions, name):
    return np.concatenate([getattr(one, name) for one in opinions])


def test_the_steps_are_those_that_numpy_draws(client):
    share, substeps = 0.3, 4
    with make(
        client, slider(), first_world=100, substeps=substeps, opinion=p.GroupOpinion(share=share, lag=3)
    ) as group:
        _, opinions = all_of(group, 45)
    found = set(
        zip(
            joined(opinions, "world").tolist(),
            joined(opinions, "episode").tolist(),
            joined(opinions, "step").tolist(),
            joined(opinions, "substep").tolist(),
        )
    )
    expected = set()
    for world in range(8):
        for step in range(45):
            u = opinion_stream(5, 100 + world, step // 20).random(20)[step % 20]
            if u < share:
                expected.add((world, step // 20, step % 20 + 1, int(np.floor(u / share * substeps))))
    assert found == expected and len(found) > 60
    assert (joined(opinions, "seed") == 5).all()


def test_opinions_come_behind_their_lag_and_never_sooner(client):
    with make(client, slider(), opinion=p.GroupOpinion(share=1.0, lag=5)) as group:
        _, opinions = all_of(group, 12)
    assert [len(one) for one in opinions] == [0] * 6 + [8] * 7 + [40]  # a reset steps nothing
    assert opinions[6].step.tolist() == [1] * 8 and opinions[6].world.tolist() == list(range(8))
    assert opinions[-1].step.tolist() == [step for step in range(8, 13) for _ in range(8)]


def test_a_convex_cone_is_as_far_off_as_it_launches(client):
    # impulse L along (-mu, 1): L - g h = mu (s - mu L); Coulomb's is g h; V = |(s, -g h)|
    mu = 0.5
    with make(client, slider(tolerance=1e-10), opinion=1.0, step_limit=1) as group:
        group.reset(seed=5)
        group.step(np.array([[100.0 + 50.0 * world] for world in range(8)]))
        got = group.opinions()
    s = STEP * (100.0 + 50.0 * np.arange(8))
    lifted = (FALL + mu * s) / (1 + mu * mu) - FALL
    assert got.gap == pytest.approx(lifted * np.hypot(1, mu) / np.hypot(s, FALL), abs=1e-7)
    assert (got.residual <= 1e-8).all() and (got.e_ds > 1e-2).all()


def test_exact_friction_has_no_gap_and_no_doubt(client):
    with make(client, slider("mdp", tolerance=1e-9), opinion=1.0) as group:
        rows, opinions = all_of(group, 30)
    assert joined(opinions, "gap").max() <= 1e-7
    assert not any(one.doubtful.any() for one in rows)


def test_a_lazy_solver_is_doubtful(client):
    tower = slider("mdp", max_iterations=1, method="GAUSS_SEIDEL", warm_start=False)
    tower["bodies"] += [
        {
            "name": f"box{i}",
            "mass": 1.0,
            "position": [0, 0, 0.1 + 0.2 * i],
            "shapes": [{"box": {"half_extents": [0.2, 0.2, 0.1]}}],
        }
        for i in range(1, 5)
    ]
    with make(client, tower, opinion=1.0) as group:
        rows, opinions = all_of(group, 20, lambda world, step: 0.0)
    assert np.median(joined(opinions, "gap")) > 1e-2
    assert all(one.doubtful.all() for one in rows[1:])


def test_nothing_changes_for_the_worlds_and_no_number_of_lanes_counts():
    kept = []
    for workers, opinion in (
        (1, None),
        (1, p.GroupOpinion(share=0.4, lag=3)),
        (4, p.GroupOpinion(share=0.4, lag=3)),
        (2, p.GroupOpinion(share=1.0)),
    ):
        with moreau_sim.launch(workers=workers) as server, server.client(timeout_s=60.0) as client:
            with make(client, slider(), count=40, substeps=2, opinion=opinion) as group:
                rows = [group.reset(seed=5)]
                rows += [group.step(np.array([[100.0 + world + step] for world in range(40)])) for step in range(25)]
                left = group.opinions() if opinion else None
        kept.append((rows, left))
    (plain, _), (one, one_left), (four, four_left), (whole, _) = kept
    for a, *others in zip(plain, one, four, whole):
        assert all(a.observation.tobytes() == b.observation.tobytes() for b in others)
    told = [[row.opinions for row in rows] + [left] for rows, left in ((one, one_left), (four, four_left))]
    for a, b in zip(*told):
        assert all(
            getattr(a, name).tobytes() == getattr(b, name).tobytes()
            for name in ("world", "episode", "step", "substep", "gap", "e_ds", "residual")
        )
    assert sum(len(one) for one in told[0]) > 300
    assert [row.doubtful.tolist() for row in one] == [row.doubtful.tolist() for row in four]


def play(group, steps, push):
    """As a learner: a reward of 1 for each step, and returns told with what was earned in doubtful ones."""
    earned, doubtful, gaps = np.zeros(group.count), np.zeros(group.count), {}
    group.reset(seed=5)
    for _ in range(steps):
        rows = group.step(np.array([[push(world)] for world in range(group.count)]))
        earned += 1.0
        doubtful += rows.doubtful
        for world, episode, gap in zip(rows.opinions.world, rows.opinions.episode, rows.opinions.gap):
            gaps[int(world), int(episode)] = max(gaps.get((int(world), int(episode)), 0.0), gap)
        if len(rows.final):
            group.tell_returns(rows.final.world, earned[rows.final.world], doubtful[rows.final.world])
            earned[rows.final.world] = doubtful[rows.final.world] = 0.0
    return gaps


def test_the_log_ranks_episodes_by_what_they_earned_in_doubtful_steps(client):
    # worlds that are pushed harder than friction holds slide, and a convex cone launches what slides
    with make(
        client,
        slider(tolerance=1e-10),
        record="pushed",
        opinion=p.GroupOpinion(share=1.0, lag=2),
        autoreset="SAME_STEP",
        step_limit=10,
    ) as group:
        gaps = play(group, 25, lambda world: 100.0 if world % 2 else 0.0)
    listed = client.episode_list(recording=group.recording, rank=p.Episode.Rank.DOUBTFUL).episodes
    assert len(listed) == 16  # what the end cut short has no return
    shares = [one.doubtful_share or 0.0 for one in listed]
    assert shares == sorted(shares, reverse=True)
    assert all((one.world_index or 0) % 2 == 1 for one in listed[:8]) and shares[0] == 1.0 and shares[-1] == 0.0
    for one in listed:
        slides = (one.world_index or 0) % 2 == 1
        assert (one.doubtful_steps, one.return_doubtful, one.opinions) == ((10, 10.0, 10) if slides else (0, 0.0, 10))
        assert (
            one.opinion_gap_max == gaps[one.world_index or 0, one.turn or 0] and (one.opinion_gap_max > 0.1) == slides
        )
    for one in (listed[0], listed[-1]):
        verified = client.episode_verify(episode=one.episode).result()
        assert verified.verified and verified.steps == 10


def test_what_is_asked_is_judged(client):
    for field, value in (
        ("share", -0.1),
        ("share", 1.5),
        ("tolerance", 0.0),
        ("tolerance", 1.0),
        ("doubt", -1.0),
        ("doubt", 1e9),
        ("lag", 0),
        ("lag", 2000),
    ):
        with pytest.raises(errors.InvalidArgument) as refused:
            make(client, slider(), opinion=p.GroupOpinion(**{field: value}))
        assert f"opinion.{field}" in str(refused.value) or refused.value.field == f"opinion.{field}"
    with pytest.raises(errors.InvalidArgument):
        make(client, slider(), opinion=p.GroupOpinion(share=float("nan")))
    with make(client, slider(), opinion=0.0) as group:
        assert len(group.reset(seed=1).opinions) == 0
        with pytest.raises(errors.FailedPrecondition):
            group.opinions()
    with pytest.raises(errors.NotFound):
        client.group_opinions(group=99999)
    with make(client, slider(), record="plain") as group, pytest.raises(errors.InvalidArgument):
        client.group_step(
            group=group.id, action_double=np.zeros(8), return_world=[0], return_sum=[1.0], return_doubtful=[1.0]
        )
    with make(client, slider(), record="plain", opinion=0.5) as group:
        with pytest.raises(errors.InvalidArgument):
            client.group_step(
                group=group.id,
                action_double=np.zeros(8),
                return_world=[0, 1],
                return_sum=[1.0, 1.0],
                return_doubtful=[1.0],
            )
        with pytest.raises(ValueError):
            group.tell_returns([0], [1.0], [np.inf])
        with pytest.raises(ValueError):
            group.tell_returns([0, 1], [1.0, 1.0], [1.0])


def test_worlds_that_are_sent_have_opinions_too(client):
    with make(client, slider(), opinion=p.GroupOpinion(share=1.0, lag=1)) as group:
        group.reset(seed=5)
        for step in range(5):
            group.send(np.full((8, 1), 100.0))
            rows = group.receive()
            assert rows.opinions.step.tolist() == [step] * 8 * (step > 0)
        assert group.opinions().step.tolist() == [5] * 8


def test_a_vector_environment_has_opinions_in_its_infos(server):
    gymnasium = pytest.importorskip("gymnasium")
    import moreau_sim.gym  # noqa: F401, which registers them

    kept = []
    for opinion in (None, p.GroupOpinion(share=0.5, lag=2)):
        envs = gymnasium.make_vec(
            "moreau_sim/BlockPush-v0",
            num_envs=6,
            address=server.address,
            opinion=opinion,
            record="push" if opinion else None,
        )
        envs.reset(seed=3)
        actions = np.random.default_rng(1).uniform(-1, 1, (30, *envs.action_space.shape)).astype(np.float32)
        kept.append([envs.step(one) for one in actions])
        if opinion:
            left = envs.unwrapped.opinions()
        envs.close()
    for plain, judged in zip(*kept):
        assert all(np.array_equal(a, b) for a, b in zip(plain[:4], judged[:4]))
        assert "opinion" not in plain[4] and judged[4]["_doubtful"].shape == (6,)
    infos = [one[4] for one in kept[1]]
    assert not any("opinion" in one for one in infos[:2])
    given = sum(int(one["_opinion"].sum()) for one in infos if "opinion" in one)
    assert 50 < given < 130 and len(left) <= 12
    assert all(
        (one["opinion"][one["_opinion"]] < 1e-2).all() and (one["opinion_step"][one["_opinion"]] >= 1).all()
        for one in infos
        if "opinion" in one
    )
