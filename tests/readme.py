#!/usr/bin/env python3
"""Runs what README.md shows, as it stands there: the commands, the Python and the C program, against a server of this
build.

  tests/readme.py BUILD_DIR CC

The server listens where there is room and not on port 7667, and the build may lie elsewhere: both are put in their
places. What its first block shows, deploy/run and deploy/test, CI runs by itself."""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_ADDRESS = "127.0.0.1:7667"


def read_blocks():
    """The blocks of code of README.md, by language."""
    blocks = {}
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / "README.md").read_text(), flags=re.M | re.S):
        blocks.setdefault(language, []).append(text)
    return blocks


def start_server(build, folder):
    ready, told = os.pipe()
    server = subprocess.Popen([build / "moreau-server", "--listen", "127.0.0.1:0", "--db", folder / "episodes.db",
                               "--ready-fd", str(told), "--log-file", folder / "log"], pass_fds=[told])
    os.close(told)
    with os.fdopen(ready) as line:
        return server, line.readline().strip()


def run(command, expected, **options):
    said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    print(said.stdout, end="")
    if said.returncode != 0 or not re.search(expected, said.stdout):
        sys.exit(f"{command}: exit status {said.returncode}, and expected was: {expected}")


def run_commands(text, build, folder, address):
    """All but the server's own line, which start_server stands for."""
    server, *commands = text.splitlines()
    assert server.startswith("build/release/moreau-server --db episodes.db &"), server
    for command in commands:
        command = command.replace("build/release/", f"{build}/")
        expected = "verified: " if " verify " in command else "file://" if " view " in command else "converged"
        run(["sh", "-c", command], expected, cwd=ROOT,
            env=dict(os.environ, MOREAU_SERVER=address, XDG_CACHE_HOME=str(folder), CI="1"))


def run_python(text, build, folder):
    """In a folder that holds nothing else, as of who has the wheel alone."""
    (folder / "example.py").write_text(text)
    run([sys.executable, "example.py"], r"2\.0 s: the last body is at .*\nevery bit again: True", cwd=folder,
        env=dict(os.environ, MOREAU_SERVER_BIN=str(build / "moreau-server"), PYTHONDONTWRITEBYTECODE="1",
                 PYTHONPATH=str(ROOT / "clients/python/src")))


def run_c(text, build, compiler, folder, address):
    """The ball has fallen from 1 m onto its radius, where nothing moves any more."""
    assert DEFAULT_ADDRESS in text
    (folder / "ball.c").write_text(text.replace(DEFAULT_ADDRESS, address))
    library = build / "clients/libmoreau.a"
    run([*shlex.split(compiler), "-std=c17", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/clients/c", "ball.c", library,
         "-lprotobuf-c", "-lssl", "-lcrypto", "-lm", "-o", "ball"], "", cwd=folder)
    run(["./ball"], r"1 s: the ball is at a height of 0\.100 m", cwd=folder)


def main():
    build, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    blocks = read_blocks()
    assert {language: len(of) for language, of in blocks.items()} == {"sh": 2, "python": 1, "c": 1}, blocks.keys()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server, address = start_server(build, folder)
        try:
            run_commands(blocks["sh"][1], build, folder, address)
            run_c(blocks["c"][0], build, compiler, folder, address)
        finally:
            server.terminate()
            server.wait()
        (folder / "episodes.db").rename(folder / "commands.db")
        run_python(blocks["python"][0], build, folder)


if __name__ == "__main__":
    main()
