# SPDX-License-Identifier: MIT
"""What `import moreau_sim` gives, where extras of the distribution are installed and where they are not; and its
commands."""

import os
import pathlib
import subprocess
import signal
import sys

import pytest

import moreau_sim

SOURCE = str(pathlib.Path(__file__).parents[1] / "src")


def run(program):
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_what_extras_need_is_imported_when_it_is_named():
    program = """
import sys, moreau_sim
assert "moreau_sim.importers" not in sys.modules
print(moreau_sim.importers.load.__name__, moreau_sim.exporters.mcap.__name__)
"""
    assert run(program) == "load mcap\n"


def test_without_an_extra_the_rest_is_there_and_the_extra_is_named():
    program = """
import sys
sys.modules["gymnasium"] = None  # as if it were not installed
from moreau_sim import *
import moreau_sim
print(launch.__name__)
for name in ("gym", "checker", "check_vector_env"):
    try:
        getattr(moreau_sim, name)
    except ModuleNotFoundError as error:
        print(error)
"""
    lines = run(program).splitlines()
    assert lines[0] == "launch" and len(lines) == 4
    assert all("needs Gymnasium: pip install 'moreau-sim[gym]'" in line for line in lines[1:])


# ---- the commands, as pip installs them of the client alone

COMMAND = f"""#!{sys.executable}
import sys
from moreau_sim_programs import {{}}
sys.exit({{}}())
"""


@pytest.fixture
def commands(tmp_path):
    """A folder that has them."""
    folder = tmp_path / "commands"
    folder.mkdir()
    for name in ("moreau", "moreau-server"):
        path, function = folder / name, name.replace("-", "_")
        path.write_text(COMMAND.format(function, function))
        path.chmod(0o755)
    return folder


def call(command, *words, path):
    environment = {**os.environ, "PYTHONPATH": SOURCE, "PATH": os.pathsep.join(map(str, path))}
    return subprocess.run([command, *words], env=environment, capture_output=True, check=False, timeout=60.0)


def test_a_command_without_its_program_says_so(commands):
    for name in ("moreau", "moreau-server"):
        done = call(commands / name, "--version", path=[commands, "", "/nowhere"])
        assert (done.returncode, done.stdout) == (127, b"")
        assert f"without the program {name}" in done.stderr.decode() and done.stderr.count(b"\n") == 1


def test_a_command_hides_no_program_that_is_installed(commands, tmp_path, monkeypatch):
    program, _ = moreau_sim.find_server()
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "moreau-server").symlink_to(program)
    path = [commands, installed]
    for words in (["--version"], [b" \xff  no such option "], ["--listen", ""]):
        directly, by_command = call(program, *words, path=path), call(commands / "moreau-server", *words, path=path)
        assert (by_command.returncode, by_command.stdout, by_command.stderr) == (
            directly.returncode,
            directly.stdout,
            directly.stderr,
        )
    # nor does launch() take it for the program, which looks for the viewer's page beside that
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, path)))
    monkeypatch.delenv("MOREAU_SERVER_BIN")
    assert moreau_sim.find_server() == (installed / "moreau-server", "PATH")
    monkeypatch.setenv("PATH", str(commands))
    with pytest.raises(FileNotFoundError, match="nor in this package, nor on PATH"):
        moreau_sim.find_server()


def test_a_command_leaves_signals_as_they_were_before_python(commands, tmp_path):
    program = tmp_path / "moreau"
    program.write_text("#!/bin/sh\nexec grep SigIgn /proc/self/status\n")
    program.chmod(0o755)
    ignored = int(call(commands / "moreau", path=[tmp_path, "/usr/bin", "/bin"]).stdout.split()[1], 16)
    assert not ignored & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1)


def test_a_program_that_cannot_be_run_is_said(commands, tmp_path):
    broken = tmp_path / "moreau"
    broken.write_text("neither a script nor a program")
    broken.chmod(0o755)
    done = call(commands / "moreau", path=[tmp_path])
    assert done.returncode == 126 and f"moreau: {broken} cannot be run" in done.stderr.decode()
