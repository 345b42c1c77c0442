# SPDX-License-Identifier: MIT
"""moreau_sim.ray on a cluster of three nodes, one of which, never the head, is killed: every bit as on a server of its
own. Run by tests/ray.sh."""

import json
import pathlib
import time
import urllib.request

import pytest
import ray

import moreau_sim
import moreau_sim.ray
import ray_servers
from cart import CART, COUNT, LAYOUT, actions, same
from moreau_sim import errors


def targets(fleet):
    (entry,) = json.loads(fleet.ray.metrics_file.read_text())
    assert entry["labels"] == {"job": "moreau"}
    return entry["targets"]


def test_a_node_is_killed_and_another_one_comes(cluster):
    fleet = moreau_sim.ray.Fleet(CART, count=COUNT, num_servers=3, cpus_per_server=1, lost_after_s=3.0, **LAYOUT)
    with moreau_sim.launch(workers=1) as server, server.client() as client:
        with fleet, moreau_sim.Group.create(client, CART, count=COUNT, **LAYOUT) as group:
            assert len(fleet.servers.hosts) == 3 == len(targets(fleet))
            token = fleet.ray.token_file.read_text().strip()
            asked = urllib.request.Request(f"http://{targets(fleet)[0]}/metrics", headers={"Authorization": f"Bearer {token}"})
            with urllib.request.urlopen(asked, timeout=10) as page:
                assert b"moreau_steps_total" in page.read()
            nodes = set(ray.get([actor.node.remote() for actor in fleet.ray._actors]))
            assert nodes == {node["NodeID"] for node in ray.nodes()}
            logs = pathlib.Path(ray._private.worker._global_node.get_logs_dir_path())
            assert len([log for log in logs.glob("moreau-server-*.log") if "ready" in log.read_text()]) == 3

            same(fleet.reset(seed=3), group.reset(seed=3))
            for call in range(40):
                if call == 10:
                    ray_servers.lose_node(cluster)
                same(fleet.step(actions(call)), group.step(actions(call)))
            kinds = [event.kind for event in fleet.events]
            assert kinds.count("lost") == 1 and "restored" in kinds
            assert len(fleet.servers.hosts) == 2

            # there is room again: Ray starts the actor anew, and the fleet takes its server in
            cluster.add_node(num_cpus=1)
            until, call = time.monotonic() + 90, 40
            while len(fleet.servers.hosts) < 3:
                assert time.monotonic() < until
                same(fleet.step(actions(call)), group.step(actions(call)))
                call += 1
                time.sleep(0.05)
            assert len(targets(fleet)) == 3
            same(fleet.step(actions(call)), group.step(actions(call)))
            assert min(host.worlds for host in fleet.servers.hosts) > 0
    assert not fleet.ray.metrics_file.exists() and not fleet.ray.token_file.exists()
    ray_servers.await_at_most(0)


def test_what_cannot_be_is_one_sentence(cluster):
    with pytest.raises(errors.ConnectionLost, match="no room for 4 servers of 1 CPUs after 1 s: it has 3 CPUs"):
        moreau_sim.ray.Servers(num_servers=4, strategy="STRICT_SPREAD", ready_s=1)
    with pytest.raises(errors.ConnectionLost, match="cannot be started: .*no-such-option"):
        moreau_sim.ray.Servers(num_servers=1, options=["--no-such-option", "1"])
    with pytest.raises(ValueError, match="num_servers"):
        moreau_sim.ray.Servers(num_servers=0)
    ray_servers.await_at_most(0)
    until = time.monotonic() + 30
    while ray.available_resources().get("CPU") != 3:
        assert time.monotonic() < until, "something is left of the placement groups"
        time.sleep(0.2)
