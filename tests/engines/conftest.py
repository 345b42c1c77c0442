# SPDX-License-Identifier: MIT
"""A cluster of three of Ray's nodes, all on this machine."""

import pytest
import ray
from ray.cluster_utils import Cluster


@pytest.fixture
def cluster():
    with_head = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    with_head.others = [with_head.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=with_head.address, log_to_driver=False)
    yield with_head
    ray.shutdown()
    with_head.shutdown()
