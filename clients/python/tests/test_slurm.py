# SPDX-License-Identifier: MIT
"""moreau_sim.slurm without Slurm: a small srun of ours starts the tasks as processes, with the variables that Slurm
sets. tests/slurm.sh does the same with Slurm's own."""

import contextlib
import os
import pathlib
import signal
import stat
import subprocess
import sys
import time

import pytest

from moreau_sim import Fleet, errors, slurm
from test_fleet import CART, COUNT, LAYOUT, actions, check_rest, same, straight
from test_sharing import in_fork

SRUN = """#!{python}
import itertools, os, signal, subprocess, sys
options = list(itertools.takewhile(lambda word: word.startswith("--"), sys.argv[1:]))
command = sys.argv[1 + len(options):]
if "--refuse" in options:
    sys.exit("srun: error: Unable to create step: Invalid node count")
if not {{"--kill-on-bad-exit=0", "--no-kill", "--wait=0"}} <= set(options):
    sys.exit("srun: a node that is lost would end the step")
count = int(next(word for word in options if word.startswith("--ntasks=")).removeprefix("--ntasks="))
tasks = []
for rank in range(count):
    if f"--without={{rank}}" in options:
        command_of = ["sleep", "1000"]
    else:
        command_of = command
    own = dict(os.environ, SLURM_PROCID=str(rank), SLURMD_NODENAME=f"node-{{rank}}",
               SLURM_LAUNCH_NODE_IPADDR="127.0.0.1")
    tasks.append(subprocess.Popen(command_of, env=own))
with open("{folder}/pids", "w") as file:
    file.write(" ".join(str(task.pid) for task in tasks))
def end(*_):
    for task in tasks:
        task.terminate()
signal.signal(signal.SIGTERM, end)
for task in tasks:
    task.wait()
"""


@pytest.fixture
def allocation(tmp_path, monkeypatch):
    """A job of three nodes. When it ends nothing of it runs."""
    program = tmp_path / "srun"
    program.write_text(SRUN.format(python=sys.executable, folder=tmp_path))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name, value in {
        "JOB_ID": "7",
        "NTASKS": "3",
        "CPUS_PER_TASK": "1",
        "SUBMIT_DIR": str(tmp_path),
        "JOB_NODELIST": "node-[0-2]",
    }.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    yield tmp_path
    await_none(tmp_path)


def processes():
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            found.append(place.read_bytes().decode("utf-8", "replace"))
    return found


def await_none(folder):
    """Servers follow their tasks, which nobody waits for."""
    until = time.monotonic() + 30
    while left := [line for line in processes() if str(folder) in line]:
        assert time.monotonic() < until, left
        time.sleep(0.02)


def pids(allocation):
    return [int(word) for word in (allocation / "pids").read_text().split()]


def server_of(task):
    return int(pathlib.Path(f"/proc/{task}/task/{task}/children").read_text().split()[0])


def lose_node(task):
    """The task goes first: it would tell that its server has ended, which a node that is lost does not."""
    server = server_of(task)
    os.kill(task, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):  # it has followed its task
        os.kill(server, signal.SIGKILL)


def await_other(servers, address):
    """The server that was there is back, elsewhere; of the node that is lost the address is still told."""
    until = time.monotonic() + 60
    while len(servers.addresses()) < 3 or address in servers.addresses():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_fleet_of_an_allocation_outlives_a_node_and_takes_in_a_restarted_server(client, allocation):
    rows = straight(client, 20)
    with slurm.Fleet(CART, count=COUNT, shares=6, save_every=5, **LAYOUT) as fleet:
        folder = allocation / "moreau-7.0"
        assert fleet.slurm.folder == folder
        assert len(fleet.slurm.addresses()) == 3 == len((folder / "servers").read_text().splitlines())
        assert stat.S_IMODE((folder / "token").stat().st_mode) == 0o600
        with pytest.raises(errors.ServerError, match="token"):
            Fleet(fleet.slurm.addresses, CART, count=8)
        same(fleet.reset(seed=7), rows[0])
        for call in range(20):
            if call == 6:  # a node is lost: its task, and its server, say nothing more
                lose_node(pids(allocation)[0])
            if call == 11:  # of another only the server
                before = fleet.slurm.addresses()[1]
                os.kill(server_of(pids(allocation)[1]), signal.SIGKILL)
            if call == 14:
                await_other(fleet.slurm, before)
                fleet.refresh()
            same(fleet.step(actions(call)), rows[1 + call])
        check_rest(fleet, rows)
        assert [event.kind for event in fleet.events].count("lost") == 2
        assert len(fleet.servers.hosts) == 2
        assert fleet.slurm.addresses()[1] in [host.address for host in fleet.servers.hosts]
    assert "listening address=127.0.0.1" in (folder / "task-0001.log").read_text()
    assert not (folder / "token").exists()


def test_who_is_missing_is_named_with_the_reason(allocation):
    with pytest.raises(
        errors.ConnectionLost,
        match=r"of 3 servers . are ready \(after 2 s\): .*task 1 has not begun \(nodes of the job: node-\[0-2\]\)",
    ):
        slurm.Servers(ready_s=2, srun=["--without=1"])
    with slurm.Servers(ready_s=8, least=2, srun=["--without=1"]) as fewer:
        assert len(fewer.addresses()) == 2
        assert fewer.missing() == ["task 1 has not begun (nodes of the job: node-[0-2])"]
    with pytest.raises(errors.ConnectionLost, match=r"task 2 on node-2 cannot start its server: .*no-such-option"):
        slurm.Servers(options=["--no-such-option", "1"])
    with pytest.raises(
        errors.ConnectionLost, match=r"srun has ended with 1\): task 0 .* srun says: srun: error: Unable to create step"
    ):
        slurm.Servers(srun=["--refuse"])


def test_a_fork_that_leaves_stops_no_server(allocation):
    with slurm.Servers(ready_s=60) as servers:
        before = sorted(path.name for path in servers.folder.iterdir())
        assert in_fork(servers.stop, lambda: servers.__exit__(None, None, None)) == [None, None]
        assert sorted(path.name for path in servers.folder.iterdir()) == before and servers.addresses()


def test_what_cannot_be_an_allocation_is_refused(allocation, monkeypatch):
    with pytest.raises(ValueError, match="least"):
        slurm.Servers(least=4)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RuntimeError, match="srun is not on PATH"):
        slurm.Servers()
    monkeypatch.delenv("SLURM_JOB_ID")
    with pytest.raises(RuntimeError, match="sbatch"):
        slurm.Servers()


def test_a_requeued_job_has_a_folder_of_its_own_and_trusts_nothing_that_was_left(allocation, monkeypatch):
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    monkeypatch.setenv("SLURM_NTASKS", "1")
    folder = allocation / "moreau-7.1"
    folder.mkdir()
    (folder / "task-0000.ready").write_text("127.0.0.1:1\n")
    (folder / "task-0000.log").write_text("before\n")
    with slurm.Servers(options=["--db", str(allocation / "run-%t.db")]) as servers:
        assert servers.addresses() != ["127.0.0.1:1"]
        assert (allocation / "run-0.db").exists()
    assert (folder / "task-0000.log").read_text().startswith("before\n")


def test_a_server_that_is_ready_just_behind_the_count_is_waited_for(allocation, monkeypatch):
    addresses, counted = slurm.Servers.addresses, []

    def before_all(servers):
        found = addresses(servers)
        until = time.monotonic() + 60
        while not counted and len(addresses(servers)) < 3:
            assert time.monotonic() < until
            time.sleep(0.02)
        counted.append(found)
        return found if len(counted) > 1 else found[:2]

    monkeypatch.setattr(slurm.Servers, "addresses", before_all)
    with slurm.Servers():
        assert [len(found) for found in counted][1:] == [3]


def test_the_learner_that_is_stopped_leaves_nothing(allocation):
    program = (
        "import moreau_sim.slurm, time\nwith moreau_sim.slurm.Servers() as servers:\n"
        "    print('ready', flush=True)\n    time.sleep(100)\n"
    )
    source = str(pathlib.Path(slurm.__file__).parents[1])
    learner = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=source)
    )
    assert learner.stdout.readline() == b"ready\n"
    learner.send_signal(signal.SIGINT)
    assert learner.wait(30) != 0
    learner.stdout.close()
    await_none(allocation)
