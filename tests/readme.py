#!/usr/bin/env python3
"""Runs what README.md shows, as it stands there: the commands, the Python and the C program, against a server of this
build.

  tests/readme.py BUILD_DIR CC

The server listens where there is room and not on port 7667, the build may lie elsewhere, and is installed into a folder
that goes again: these are put in their places. What its first block shows, deploy/run and deploy/test, CI runs by
itself, and the wheel is tests/wheel.sh's; the Python program runs here from the sources, which needs NumPy."""
import os
import pathlib
import re
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


def run_c(commands, text, build, compiler, folder, address):
    """As the page compiles it, against an installation of this build; warnings are errors here. The ball has fallen from
    1 m onto its radius, where nothing moves any more."""
    assert DEFAULT_ADDRESS in text
    (folder / "ball.c").write_text(text.replace(DEFAULT_ADDRESS, address))
    install, compile_and_run = (re.sub(r"\s+#.*", "", line) for line in commands.splitlines())
    assert install == "cmake --build --preset release && cmake --install build/release", install
    assert compile_and_run.startswith("cc ball.c "), compile_and_run
    run(["cmake", "--install", build, "--prefix", folder / "prefix"], "libmoreau", cwd=folder)
    lib = next((folder / "prefix").rglob("libmoreau.so")).parent
    run(["sh", "-c", compile_and_run.replace("cc", f"{compiler} -std=c17 -Wall -Wextra -Werror", 1)],
        r"1 s: the ball is at a height of 0\.100 m", cwd=folder,
        env=dict(os.environ, PKG_CONFIG_PATH=str(lib / "pkgconfig"), LD_LIBRARY_PATH=str(lib)))


def main():
    build, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    blocks = read_blocks()
    assert {language: len(of) for language, of in blocks.items()} == {"sh": 4, "python": 1, "c": 1}, blocks.keys()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server, address = start_server(build, folder)
        try:
            run_commands(blocks["sh"][1], build, folder, address)
            run_c(blocks["sh"][3], blocks["c"][0], build, compiler, folder, address)
        finally:
            server.terminate()
            server.wait()
        (folder / "episodes.db").rename(folder / "commands.db")
        run_python(blocks["python"][0], build, folder)


if __name__ == "__main__":
    main()
