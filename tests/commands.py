#!/usr/bin/env python3
"""Runs every command that a page shows in a block of sh, as it is printed, in a fresh folder, against a server of this
build.

  tests/commands.py BUILD_DIR        all but those of LEFT, which say why they are
  tests/commands.py --list           what runs, and what is left

The folder looks like this one: build/release is the build, and what git knows lies beside it. `moreau` is on the path.
Where a page says SCENE.json and EPISODE there are a scene and an episode of that name. A server that a page starts
listens where there is room, and not on port 7667."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pages

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEFT = {  # how a command begins: why it does not run here
    "deploy/run": "installs packages and builds: CI runs it as a part of its own",
    "deploy/test": "installs packages and runs all tests, this one among them",
    "cmake --preset release": "builds what this test is given",
    "cmake --build --preset release && cmake --install": "installs what this test is given: tests/readme.py, elsewhere",
    "cc ball.c ": "its program stands in another block: tests/readme.py",
    "deploy/wheel": "brings packages from an index, and builds: tests/wheel.sh, among the long ones",
    "python3 -m venv venv && venv/bin/pip install build/wheel": "installs what that has made",
    "git clone ": "brings another engine: tests/bench/peers, where somebody has it",
    "cmake -B build -DCMAKE_BUILD_TYPE=Release -DBOX3D": "builds that engine",
    "chromium ": "opens a window; clients/view and web open the page without one",
    "kubectl ": "needs a cluster: tests/kubernetes.sh, among the long ones",
    "sbatch ": "needs a cluster: tests/slurm.sh, among the long ones",
    "ssh ": "needs another machine",
}
SECONDS_MAX = 60
# a ball above a cup, for what a page says of such
SCENE = """{"bodies": [
  {"name": "cup", "kind": "STATIC", "shapes": [{"plane": {}}]},
  {"name": "ball", "position": [0, 0, 0.5], "shapes": [{"sphere": {"radius": 0.1}}]}]}"""


def list_pages():
    return [path for path in pages.list_files() if path.suffix == ".md"]


def read_commands(page):
    """Number and text of each line of a block of sh, but for what is only a comment, and of each behind a $ in a block
    that shows what was said, too."""
    language, commands = None, []
    for number, line in enumerate(page.read_text().split("\n"), 1):
        if line.startswith("```"):
            language = line.strip("`").strip() if language is None else None
        elif language == "sh" and re.sub(r"#.*", "", line).strip():
            commands.append((number, line.strip()))
        elif language == "" and line.startswith("$ "):
            commands.append((number, line[2:].strip()))
    return commands


def why_left(command):
    return next((why for begin, why in LEFT.items() if command.startswith(begin)), None)


def list_all():
    """(page, number, command) of all that is shown."""
    return [(page, number, command) for page in list_pages() for number, command in read_commands(page)]


def check_left(commands):
    """Nothing is left that no page shows any more."""
    for begin in LEFT:
        assert any(command.startswith(begin) for _, _, command in commands), f"no page shows {begin!r} any more"


class Folder:
    """Where the commands of a page run, with a server."""

    def __init__(self, build, path):
        self.build, self.path, self.server, self.address, self.has_episode = build, path, None, "", False
        (path / "build").mkdir()
        (path / "build/release").symlink_to(build)
        for name in ("clients", "deploy", "proto", "server", "tests", "README.md"):
            (path / name).symlink_to(ROOT / name)
        (path / "SCENE.json").write_text(SCENE)
        (path / "falling.json").write_bytes((ROOT / "tests/scenes/falling.json").read_bytes())

    def start_server(self, words):
        """In the place of the one that runs."""
        self.end_server()
        ready, told = os.pipe()
        self.server = subprocess.Popen([self.build / "moreau-server", *words, "--listen", "127.0.0.1:0", "--ready-fd",
                                        str(told), "--log-file", "server.log"], pass_fds=[told], cwd=self.path)
        os.close(told)
        with os.fdopen(ready) as line:
            self.address = line.readline().strip()
        assert self.address, f"moreau-server {' '.join(words)} did not start"
        if not self.has_episode:
            self.has_episode = self.run("moreau run SCENE.json --steps 1010 --record --episode-name EPISODE") is None
            assert self.has_episode

    def end_server(self):
        if self.server is not None:
            self.server.terminate()
            self.server.wait()

    def run(self, command):
        """None, or what it said before it failed."""
        env = dict(os.environ, MOREAU_SERVER=self.address, XDG_CACHE_HOME=str(self.path), CI="1",
                   PATH=f"{self.build}/clients:{self.build}:{os.environ['PATH']}")
        try:
            said = subprocess.run(["sh", "-c", command], cwd=self.path, env=env, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return f"not done after {SECONDS_MAX} s"
        return None if said.returncode == 0 else f"exit status {said.returncode}\n{said.stdout[-2000:]}"


def write_scenes(page, folder):
    """A block of JSON that is a scene, under the name that it has: ball.json."""
    for text in re.findall(r"^```json\n(.*?)^```", page.read_text(), flags=re.M | re.S):
        if '"bodies"' in text and "name" in (scene := json.loads(text)):
            (folder.path / f"{scene['name']}.json").write_text(text)


def run_page(page, commands, build):
    """How many commands failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Folder(build, pathlib.Path(name))
        write_scenes(page, folder)
        try:
            folder.start_server(["--db", "episodes.db"])
            for number, command in commands:
                if why_left(command):
                    continue
                starts = re.match(r"(?:\S*/)?moreau-server (.*?) &", command)
                here = re.sub(r"tls://\w+:7667", folder.address, command)
                wrong = (folder.start_server(re.sub(r"--listen \S+ ?", "", starts[1]).split()) if starts
                         else folder.run(here))
                print(f"{page.relative_to(ROOT)}:{number}: {command}{': ' + wrong if wrong else ''}", flush=True)
                failed += wrong is not None
        finally:
            folder.end_server()
    return failed


def main():
    commands = list_all()
    check_left(commands)
    if sys.argv[1] == "--list":
        for page, number, command in commands:
            print(f"{page.relative_to(ROOT)}:{number}: {command}\n    {why_left(command) or 'runs'}")
        return
    build, failed = pathlib.Path(sys.argv[1]).resolve(), 0
    for page in list_pages():
        of_page = [(number, command) for at, number, command in commands if at == page]
        if any(why_left(command) is None for _, command in of_page):
            failed += run_page(page, of_page, build)
    sys.exit(f"{failed} commands fail as they are printed" if failed else 0)


if __name__ == "__main__":
    main()
