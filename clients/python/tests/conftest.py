# SPDX-License-Identifier: MIT
"""A real server for the tests: $MOREAU_SERVER_BIN, or the one on PATH."""

import pytest

import moreau_sim


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with moreau_sim.launch(db=tmp_path_factory.mktemp("db") / "episodes.db", workers=2) as server:
        yield server


@pytest.fixture
def client(server):
    with server.client(timeout_s=60.0) as client:
        yield client
