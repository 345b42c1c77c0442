# SPDX-License-Identifier: MIT
"""However a Python process ends, the server that it started ends with it, and neither its folder nor its socket is
left. Each way runs in a process of its own, all of them at the same time."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import moreau_sim

SOURCE = pathlib.Path(moreau_sim.__file__).parents[1]
PATIENCE_S = 60.0

# what has been made when the end comes
MADE = {
    "launch": "server = moreau_sim.launch(workers=1)",
    "client": "server = moreau_sim.launch(workers=1); client = server.client(); client.ping()",
    "group": """
server = moreau_sim.launch(workers=1); client = server.client()
scene = {"bodies": [{"name": "cart", "mass": 1, "inertia": [1, 1, 1, 0, 0, 0]}],
         "joints": [{"name": "rail", "kind": "SLIDER", "body_b": "cart"}]}
group = moreau_sim.Group.create(client, scene, count=8, action=[moreau_sim.channel("JOINT_EFFORT", "rail")],
                                observation=[moreau_sim.channel("JOINT_POSITION", "rail")])
group.reset(seed=1)""",
}
# how it comes
ENDS = {
    "at the end of the program": "",
    "with": "with server: pass",
    "stop": "server.stop()",
    "stop twice": "server.stop(); server.stop()",
    "sys.exit": "sys.exit(3)",
    "an exception": "raise RuntimeError('here')",
    "an exception inside with": "with server: raise RuntimeError('here')",
    "a KeyboardInterrupt": "raise KeyboardInterrupt",
    "os._exit": "os._exit(1)",
    "abort": "os.abort()",
    "exec": "os.execv('/bin/true', ['true'])",
    "SIGTERM": "kill(signal.SIGTERM)",
    "SIGHUP": "kill(signal.SIGHUP)",
    "SIGINT": "kill(signal.SIGINT)",
    "SIGQUIT": "kill(signal.SIGQUIT)",
    "SIGKILL": "kill(signal.SIGKILL)",
    "SIGUSR1": "kill(signal.SIGUSR1)",
    "SIGPIPE": "signal.signal(signal.SIGPIPE, signal.SIG_DFL); kill(signal.SIGPIPE)",
    "SIGSEGV": "kill(signal.SIGSEGV)",
    "SIGALRM": "signal.alarm(1); time.sleep(10)",
    "SIGTERM in a thread's sleep": "threading.Thread(target=time.sleep, args=(10,)).start(); kill(signal.SIGTERM)",
    "the whole process group": "os.killpg(0, signal.SIGKILL)",
    "an exception in a thread": "t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()",
    "a daemon thread that goes on": "threading.Thread(target=lambda: time.sleep(60), daemon=True).start()",
    "forgotten": "del server",
    "forgotten and collected": "server = None; gc.collect()",
    "a cycle": "ring = [server]; ring.append(ring); del server, ring; gc.collect()",
    "out of memory": "raise MemoryError",
    "recursion": "(lambda f: f(f))(lambda f: f(f))",
    "a forked child that lives on": "os.fork() or time.sleep(20); os._exit(0)",
    "a forked child that ends first": "child = os.fork() or os._exit(0); os.waitpid(child, 0); server.client().ping()",
    "a forked child that stops it": "child = os.fork() or (server.stop(), os._exit(0)); os.waitpid(child, 0); "
                                    "server.client().ping()",
    "a forked child that leaves with": """
child = os.fork()
if child == 0:
    with server: pass
    sys.exit(0)
os.waitpid(child, 0); server.client().ping()""",
    "a forked child that ends by an exception": """
child = os.fork()
if child == 0: raise RuntimeError('child')
os.waitpid(child, 0); server.client().ping()""",
    "multiprocessing by fork": """
import multiprocessing
p = multiprocessing.get_context('fork').Process(target=time.sleep, args=(0.1,))
p.start(); p.join(); server.client().ping()""",
    "multiprocessing by fork, killed": """
import multiprocessing
p = multiprocessing.get_context('fork').Process(target=time.sleep, args=(20,)); p.start(); kill(signal.SIGKILL)""",
    "multiprocessing by spawn": """
import multiprocessing
p = multiprocessing.get_context('spawn').Process(target=time.sleep, args=(0.1,))
p.start(); p.join(); server.client().ping()""",
    "a subprocess that lives on": "import subprocess; subprocess.Popen(['sleep', '20'], close_fds=False); "
                                  "kill(signal.SIGKILL)",
    "a pool": """
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(2) as pool: list(pool.map(abs, [1, 2]))
server.client().ping()""",
    "two servers": "other = moreau_sim.launch(workers=1); print(other.process.pid, "
                   "os.path.dirname(other.address[5:]), flush=True)",
    "a debugger": "import pdb; pdb.Pdb(stdin=open('/dev/null'), stdout=open('/dev/null', 'w')).set_trace(); "
                  "kill(signal.SIGKILL)",
    "a notebook's restart": "import code; code.InteractiveConsole(globals()).push('x = server'); kill(signal.SIGKILL)",
    "its parent's death": "kill_parent()",
    "an end in atexit": "import atexit; atexit.register(os._exit, 5)",
    "stopped, then killed": "os.kill(server.process.pid, signal.SIGSTOP); os.kill(server.process.pid, "
                            "signal.SIGCONT); kill(signal.SIGKILL)",
    "the server dies first": "server.process.kill(); server.process.wait(); server.stop()",
}
HEAD = """
import faulthandler, gc, os, signal, sys, threading, time
import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import moreau_sim
def kill(number): os.kill(os.getpid(), number); time.sleep(20)
def kill_parent(): os.kill(os.getppid(), signal.SIGKILL); time.sleep(0.2); os._exit(0)
"""
TOLD = "\nprint(server.process.pid, os.path.dirname(server.address[5:]), flush=True)\n"


def ways():
    """All ends of a program that has launched a server; and, with MOREAU_LIFETIMES=all, of those that have more: every
    third."""
    for made_at, made in enumerate(MADE):
        for i, end in enumerate(ENDS):
            if made == "launch" or (os.environ.get("MOREAU_LIFETIMES") == "all" and i % 3 == made_at):
                yield pytest.param(made, end, id=f"{made}: {end}")


def is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # it has ended meanwhile
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Every way has begun; what it said of its servers is in its file."""
    folder = tmp_path_factory.mktemp("ways")
    started = {}
    for i, parameter in enumerate(ways()):
        made, end = parameter.values
        script = folder / f"{i}.py"
        script.write_text(HEAD + MADE[made] + TOLD + ENDS[end])
        with (folder / f"{i}.out").open("w") as out:
            # one process between, which may be killed as a parent
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, {str(script)!r}]) & 255)",
                ],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": str(SOURCE)},
            )
        started[made, end] = process, folder / f"{i}.out"
        while sum(one.poll() is None for one, _ in started.values()) >= 4:
            time.sleep(0.02)
    yield started
    for process, _ in started.values():
        if process.poll() is None:
            process.kill()
        process.wait()


@pytest.mark.parametrize("made, end", list(ways()))
def test_nothing_is_left(runs, made, end):
    process, said = runs[made, end]
    process.wait(PATIENCE_S)
    servers = [line.split() for line in said.read_text().splitlines()]
    # what is spawned runs the program once more, with a server of its own
    assert len(servers) == (2 if end in ("two servers", "multiprocessing by spawn") else 1), said.read_text()
    until = time.monotonic() + PATIENCE_S
    for pid, folder in servers:
        while is_there(int(pid)) or os.path.exists(folder):
            assert time.monotonic() < until, f"server {pid} and {folder} are left"
            time.sleep(0.02)


def test_there_are_ways_enough():
    assert len(list(ways())) >= 40


def test_folders_of_servers_that_were_killed_with_their_starters_go(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    server = moreau_sim.launch(workers=1)
    folder = pathlib.Path(server.address.removeprefix("unix:")).parent
    assert folder.parent == tmp_path
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    with moreau_sim.launch(workers=1):
        assert folder.exists()  # it might be starting
    os.utime(folder, (time.time() - 120.0,) * 2)
    with moreau_sim.launch(workers=1) as other:
        assert not folder.exists() and other.client().ping() is not None
    server.stop()


def test_the_file_is_whole_when_the_program_has_ended(tmp_path):
    """The server has ended before who started it: no write-ahead log is left beside the file."""
    program = f"""
import moreau_sim
server = moreau_sim.launch(db={str(tmp_path / "episodes.db")!r}, workers=1); client = server.client()
world = moreau_sim.World.create(client, {{"bodies": [{{"shapes": [{{"sphere": {{"radius": 0.1}}}}]}}]}})
world.record("first"); world.step(10)
print(server.process.pid)"""
    for _ in range(5):
        said = subprocess.run(
            [sys.executable, "-c", program],
            env=dict(os.environ, PYTHONPATH=str(SOURCE)),
            capture_output=True,
            text=True,
            check=True,
        )
        with pytest.raises(ProcessLookupError):
            os.kill(int(said.stdout), 0)
        assert [path.name for path in tmp_path.iterdir()] == ["episodes.db"]
