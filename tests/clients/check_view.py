# SPDX-License-Identifier: MIT
"""`moreau demo`, `view` and `shot`: what they open, write and say, with a browser and without one; and what commands say of
names and of worlds that fail.

Pictures are taken where there is Chromium, and left out where there is none; `demo` as a whole takes a minute and is
told by MOREAU_LONG."""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
import time
import urllib.error
import urllib.request
import zlib

import numpy as np
import pytest

import check_widths
import moreau_sim

TOOL = os.environ["MOREAU_BIN"]
SCENES = pathlib.Path(__file__).parent.parent / "scenes"
CHROMIUM = next((path for path in map(shutil.which, ["chromium", "chromium-browser", "google-chrome"]) if path), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="there is no ffmpeg (deploy/packages film brings it)")
is_long = pytest.mark.skipif("MOREAU_LONG" not in os.environ, reason="takes a minute")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("view")


@pytest.fixture(scope="module")
def server(folder):
    with moreau_sim.launch(db=folder / "episodes.db", workers=1, http=True) as server:
        run(server, "run", SCENES / "stack10.json", "--steps", "60", "--record=frames", "--episode-name", "first")
        run(server, "run", SCENES / "incline.json", "--steps", "90", "--record=frames", "--episode-name", "tower")
        run(server, "run", SCENES / "stack10.json", "--steps", "5", "--keep", "--name", "kept")
        yield server


def run(server, *words, status=0, path=None, **more):
    env = dict(os.environ, MOREAU_SERVER=server.address if server is not None else "127.0.0.1:1", **more)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        env.pop(name, None)
    if path is not None:
        env["PATH"] = str(path)
    said = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, env=env)
    assert said.returncode == status, said
    return said


def uid(server, name):
    return json.loads(run(server, "episodes", name, "--json").stdout)["episode"]


# ---- view


def test_an_episode_of_the_server_is_a_page_in_the_cache(server, folder):
    said = run(server, "view", "tower", "--step", "7", XDG_CACHE_HOME=folder / "cache")
    path, moment = re.fullmatch(r"file://(.*)#(.*)\n", said.stdout).groups()
    assert moment == "step=7"
    assert pathlib.Path(path).parent.stat().st_mode & 0o077 == 0
    assert 'id="episode">' in pathlib.Path(path).read_text()


def test_a_file_shows_its_newest_episode_or_the_one_that_is_named(server, folder):
    newest = run(None, "view", folder / "episodes.db", XDG_CACHE_HOME=folder / "cache").stdout
    named = run(None, "view", folder / "episodes.db", "first", XDG_CACHE_HOME=folder / "cache").stdout
    assert uid(server, "tower") in newest
    assert uid(server, "first") in named


def test_a_world_is_shown_by_the_servers_own_page(server):
    said = json.loads(run(server, "view", "kept", "--json").stdout)
    assert re.fullmatch(r"http://(127\.0\.0\.1:\d+)/#live=ws://\1/v1/live&world=\d+", said["address"])
    assert said["window"] is False


def test_what_is_nowhere_is_said(server, folder):
    assert "has no episode nothing" in run(server, "view", "nothing", status=1).stderr
    assert "no file none.db" in run(server, "view", "none.db", status=2).stderr
    assert "is no file of episodes" in run(server, "view", SCENES / "stack10.json", "first", status=2).stderr


def test_without_pages_the_server_says_which_option(folder):
    with moreau_sim.launch(workers=1) as server:
        run(server, "run", SCENES / "stack10.json", "--steps", "1", "--keep", "--name", "kept")
        assert "start it with --http" in run(server, "view", "kept", status=1).stderr
        assert "--db FILE" in run(server, "view", "nothing", status=1).stderr


# ---- shot


def test_without_a_browser_the_sentence_says_what_to_install(server, folder):
    said = run(server, "shot", "tower", "-o", folder / "none.png", status=1, path=folder)
    assert "apt install chromium" in said.stderr
    assert not (folder / "none.png").exists()


def test_what_cannot_be_written_is_refused_before_anything_is_done(server, folder):
    assert "-o OUT.png or --video" in run(server, "shot", "tower", status=2).stderr
    assert "a video is a .webm" in run(server, "shot", "tower", "--video", "x.avi", status=2).stderr
    assert "WIDTHxHEIGHT" in run(server, "shot", "tower", "-o", "x.png", "--size", "9", status=2).stderr


def pixels(path):
    """Width, height and rows of a PNG of 8-bit colours, whose rows keep their filters."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        count, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", data, at + 8)
        packed += data[at + 8 : at + 8 + count] if kind == b"IDAT" else b""
        at += 12 + count
    return width, height, zlib.decompress(packed)


@needs_chromium
def test_a_picture_is_as_large_as_asked_and_shows_the_step(server, folder):
    run(server, "shot", "tower", "--step", "0", "--bare", "--size", "320x240", "-o", folder / "a.png")
    run(server, "shot", "tower", "--step", "90", "--bare", "--size", "320x240", "-o", folder / "b.png")
    first, last = pixels(folder / "a.png"), pixels(folder / "b.png")
    assert first[:2] == last[:2] == (320, 240)
    assert first[2] != last[2]
    assert len(set(first[2])) > 50  # no empty page


def element(data, at):
    """An EBML element's id, where its content begins, and where it ends."""
    id_bytes = 9 - data[at].bit_length()
    size_bytes = 9 - data[at + id_bytes].bit_length()
    begin = at + id_bytes + size_bytes
    size = int.from_bytes(data[at + id_bytes : begin], "big") & ((1 << 7 * size_bytes) - 1)
    return data[at : at + id_bytes].hex(), begin, begin + size


def elements(data, at, end):
    found = []
    while at < end:
        name, begin, at = element(data, at)
        found.append((name, begin, at))
    assert at == end
    return found


@needs_chromium
def test_a_video_has_every_frame_at_its_time(server, folder):
    run(server, "shot", "tower", "--video", folder / "v.webm", "--size", "320x240", "--to", "60", "--fps", "20")
    data = (folder / "v.webm").read_bytes()
    head, segment = elements(data, 0, len(data))
    assert (head[0], segment[0]) == ("1a45dfa3", "18538067")
    parts = elements(data, segment[1], segment[2])
    assert [name for name, _, _ in parts] == ["1549a966", "1654ae6b", "1f43b675", "1c53bb6b"]
    blocks = [begin for name, begin, _ in elements(data, *parts[2][1:]) if name == "a3"]
    assert [int.from_bytes(data[b + 1 : b + 3], "big") for b in blocks] == [0, 50, 100, 150, 200, 250]  # 60 steps of 1/240 s
    assert [data[b + 3] >> 7 for b in blocks] == [1, 0, 0, 0, 0, 0]


FILM = ["--size", "320x240", "--to", "60", "--fps", "20"]  # 6 frames of 0.05 s


def frames(path):
    """Colours of each frame, of which ffmpeg takes or leaves none: what is in the file."""
    said = subprocess.run(["ffmpeg", "-loglevel", "error", "-i", path, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24",
                           "pipe:1"], capture_output=True, check=True).stdout
    return np.frombuffer(said, np.uint8).reshape(-1, 240, 320, 3).astype(int)


@needs_chromium
@needs_ffmpeg
@pytest.mark.parametrize(("name", "far"), [("v.mp4", 4), ("v.gif", 1), ("a:b c.GIF", 1)])
def test_ffmpeg_makes_the_same_pictures_at_the_same_times(server, folder, name, far):
    """In the mean of all its pixels no frame is farther from that of the WebM than `far`, of 255: twice what H.264 blurs, as at
    this size many pixels are edges, and thrice what 256 colours miss. A palette of eight is 4 off, a fixed one 20."""
    run(server, "shot", "tower", "--video", folder / "same.webm", *FILM)
    said = run(server, "shot", "tower", "--video", folder / name, *FILM, "--json")
    assert json.loads(said.stdout)["video"] == f"{folder}/{name}" and said.stderr == ""
    wanted, made = frames(folder / "same.webm"), frames(folder / name)
    assert wanted.shape == made.shape == (6, 240, 320, 3)
    assert abs(made - wanted).mean(axis=(1, 2, 3)).max() < far
    assert (made[0] != made[-1]).any()
    told = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "format=duration:packet=pts_time", "-of", "json", folder / name],
                          capture_output=True, check=True)
    told = json.loads(told.stdout)
    assert sorted(float(packet["pts_time"]) for packet in told["packets"]) == pytest.approx([0.05 * i for i in range(6)])
    assert float(told["format"]["duration"]) == pytest.approx(0.3, abs=0.05)  # some leave the last frame's time out


def test_without_ffmpeg_the_sentence_says_what_to_install(server, folder):
    for name in ("x.mp4", "x.gif", "x.GIF"):
        said = run(server, "shot", "tower", "--video", name, status=1, path=folder)
        assert f"{name} is made by ffmpeg, which is not in PATH: apt install ffmpeg" in said.stderr and ".webm" in said.stderr


@needs_chromium
def test_a_video_that_ffmpeg_does_not_make_leaves_what_was_there(server, folder):
    (folder / "bin").mkdir()
    (folder / "bin/ffmpeg").write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
    (folder / "bin/ffmpeg").chmod(0o700)
    (folder / "kept.mp4").write_text("what was there")
    before = sorted(folder.iterdir())
    said = run(server, "shot", "tower", "--video", folder / "kept.mp4", *FILM, status=1, path=f"{folder}/bin:{os.environ['PATH']}")
    assert said.stderr.endswith(f"no room\nmoreau: ffmpeg could not make {folder}/kept.mp4\n")
    assert (folder / "kept.mp4").read_text() == "what was there" and sorted(folder.iterdir()) == before


# ---- its proof

VIEWER = SCENES.parents[1] / "clients/web/page/moreau-viewer.html"


def prove(server, folder, page=VIEWER, status=0):
    return run(server, "shot", "tower", "--step", "9", "--prove", "--tab", "plots", "--dark", "--size", "320x240", "--page", page,
               "--json", "-o", folder / "proven.png", status=status)


def with_script(folder, script):
    """The viewer with a script of ours in it, which finds `moreau` once it is there."""
    page = folder / "changed.html"
    begin = f"const wait = setInterval(() => {{ if (window.moreau?.prover) {{ clearInterval(wait); {script} }} }}, 1);"
    page.write_text(VIEWER.read_text().replace("<title>", f"<script>{begin}</script><title>", 1))
    return page


@needs_chromium
def test_a_proof_is_made_whichever_tab_is_shown(server, folder):
    assert json.loads(prove(server, folder).stdout)["proof"] == "proven against the file itself"


@needs_chromium
def test_an_episode_that_cannot_be_proven_is_said(server, folder):
    page = with_script(folder, "moreau.prover.obstacle = 'somebody took the dynamics out'")
    assert "cannot be proven: somebody took the dynamics out" in prove(server, folder, page, status=1).stderr


@needs_chromium
def test_a_proof_that_fails_is_said(server, folder):
    page = with_script(folder, "moreau.prover.prove = () => Promise.reject(new Error('out of memory'))")
    assert "its proof failed: out of memory" in prove(server, folder, page, status=1).stderr


@is_long
@needs_chromium
def test_a_proof_that_stands_still_ends(server, folder):
    page = with_script(folder, "moreau.prover.prove = () => new Promise(() => { moreau.prover.proving = 'running'; })")
    assert "stood still for a minute, behind step 0" in prove(server, folder, page, status=1).stderr


@needs_chromium
def test_ctrl_c_ends_a_proof_that_does_not_end(server, folder):
    page = with_script(folder, "moreau.prover.prove = () => { document.title = 'asked'; return new Promise(() => {}); }")
    env = dict(os.environ, MOREAU_SERVER=server.address)
    tool = subprocess.Popen([TOOL, "shot", "tower", "--prove", "--page", page, "-o", folder / "never.png"], env=env,
                            stderr=subprocess.PIPE, text=True)
    assert "0 of 90 steps" in tool.stderr.readline()  # it looks, and nothing goes on
    tool.send_signal(signal.SIGINT)
    assert "interrupted" in tool.communicate(timeout=30)[1]
    assert tool.returncode == 1


# ---- demo


@is_long
def test_the_demo_is_certified_proven_and_leaves_a_page(folder):
    (folder / "cards").mkdir()  # what is there stays
    said = json.loads(run(None, "demo", "--no-window", "--json", "--out", folder / "cards").stdout)
    assert said["folder"] == f"{folder}/cards-2"
    assert said["verified"] and said["e_DS"] <= 1e-6 and said["distance"] <= 1e-6
    assert 'id="episode">' in pathlib.Path(said["html"]).read_text()
    assert (said["picture"] is None) == (CHROMIUM is None)
    assert list((folder / "cards").iterdir()) == []


@is_long
def test_the_demo_without_a_browser_says_what_to_install_and_fits_a_narrow_terminal(folder, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.chdir(folder)
    lines = check_widths.show(None, 40, "demo", "--out", "bare")
    check_widths.assert_fits(lines, 40)
    assert "apt install chromium" in "\n".join(lines)
    assert "every bit of every step is" in " ".join(" ".join(lines).split())
    assert lines[lines.index("next") + 1:] == ["moreau view bare/demo.db", "moreau-server --db bare/demo.db &",
                                               "moreau compare demo --solver all --to 60"]
    assert sorted(f.name for f in (folder / "bare").iterdir()) == ["demo.db", "demo.html", "server.log"]


SLOW_BROWSER = """#!/usr/bin/python3
import pathlib, re, socket, sys, time, urllib.request
host = re.search("http://([^/]*)/", " ".join(sys.argv))[1]
def steps():
    return int(re.search("\\nmoreau_steps_total (.*)", urllib.request.urlopen(f"http://{host}/metrics").read().decode())[1])
time.sleep(4)
before = steps()
watch = socket.create_connection(host.split(":"))
watch.sendall(f"GET /v1/live HTTP/1.1\\r\\nHost: {host}\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Version: 13\\r\\n"
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\nSec-WebSocket-Protocol: moreau.v1\\r\\n\\r\\n".encode())
begun = time.monotonic()
while steps() == 0 and time.monotonic() < begun + 12:
    time.sleep(0.05)
pathlib.Path(sys.argv[0] + ".saw").write_text(f"{before} {steps() > 0}")
"""


def test_the_demo_waits_until_somebody_sees_it(folder):
    """A browser that begins for the first time may take longer than all that falls."""
    browser = folder / "slow"
    browser.write_text(SLOW_BROWSER)
    browser.chmod(0o700)
    env = dict(os.environ, MOREAU_BROWSER=str(browser), DISPLAY=":7", CI="")
    tool = subprocess.Popen([TOOL, "demo", "--out", folder / "seen"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    saw = folder / "slow.saw"
    until, options = time.monotonic() + 60, []
    while not saw.exists() and tool.poll() is None and time.monotonic() < until:
        for child in pathlib.Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split():
            with contextlib.suppress(OSError):
                words = pathlib.Path(f"/proc/{child}/cmdline").read_text().split("\0")
                options = words if words[0].endswith("moreau-server") else options
        time.sleep(0.1)
    tool.send_signal(signal.SIGINT)
    tool.wait(60)
    assert saw.read_text() == "0 True"
    # a busy machine's steps are not given up: a demo that ends in an error shows nothing
    assert options[options.index("--work-timeout-ms") + 1] == "86400000"


# ---- names that somebody else has chosen


def test_a_name_does_nothing_to_a_terminal(server, folder):
    scene = json.loads((SCENES / "one_ball.json").read_text())
    scene["name"] = "\x1b]0;owned\x07\nmoreau: fine \u202e漢字\x7f\u009b2J"
    scene["bodies"][1]["name"] = "ball\x1b[2J"
    (folder / "evil.json").write_text(json.dumps(scene))
    said = [run(server, "run", folder / "evil.json", "--steps", "1", "--keep", "--record=frames"), run(server, "worlds"),
            run(server, "episodes"),
            run(server, "replay", "evil\x1b", status=1), run(server, "view", "evil\x1b", status=1)]
    for text in [s.stdout + s.stderr for s in said]:
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), text
        assert "\nmoreau: fine" not in text
    assert any(world["name"] == scene["name"] for world in json.loads(run(server, "worlds", "--json").stdout))


def test_a_call_in_which_a_world_fails_says_so_and_fails(server, folder):
    scene = {"name": "feather", "bodies": [{"name": "f", "mass": 1e-18, "inertia": [1e-18, 1e-18, 1e-18, 0, 0, 0], "shapes": []}]}
    (folder / "feather.json").write_text(json.dumps(scene))
    made = json.loads(run(server, "run", folder / "feather.json", "--steps", "1", "--keep", "--json").stdout)
    call = {"worlds": [made["world"]], "steps": 10, "time_step": 10, "wrench_count": [1], "wrench_body": [1], "wrench": [1e18, 0, 0, 0, 0, 0]}
    said = run(server, "call", "WorldStep", json.dumps(call), status=1)
    assert re.match(rf"moreau: world {made['world']} failed: ", said.stderr)
    assert json.loads(said.stdout)["failures"][0]["world"] == str(made["world"])


# ---- how wide it is


@pytest.mark.parametrize("columns", [12, 40, 80, 200])
def test_progress_fits_its_line(server, folder, columns):
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = dict(os.environ, MOREAU_SERVER=server.address)
    tool = subprocess.Popen([TOOL, "run", SCENES / "heap-12.json", "--steps", "500"], env=env, stdout=subprocess.DEVNULL, stderr=follower)
    os.close(follower)
    said = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while piece := os.read(leader, 65536):
            said += piece
    assert tool.wait() == 0
    lines = [re.sub("\x1b\\[[0-9;]*[A-Za-z]", "", line) for line in said.decode().split("\r")]
    assert max(map(len, lines)) < columns
    assert any("%" in line for line in lines)
    assert columns < 80 or any("steps/s" in line and line.endswith("left") and line[0] in "█░" for line in lines)


def shown_by(folder, server, *words):
    """The words that a command gives a browser that it shows something with."""
    browser, given = folder / "browser", folder / "words"
    browser.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {given}.new && mv {given}.new {given}\n')
    browser.chmod(0o700)
    given.unlink(missing_ok=True)
    env = dict(os.environ, MOREAU_SERVER=server.address, MOREAU_BROWSER=str(browser), DISPLAY=":7", CI="",
               XDG_CACHE_HOME=str(folder))
    tool = subprocess.Popen([TOOL, *words], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not given.exists():  # nobody waits for a browser
        time.sleep(0.1)
    tool.send_signal(signal.SIGINT)
    tool.wait(60)
    return given.read_text().splitlines()


def test_a_window_opens_also_as_root(server, folder):
    """Chromium ends at once as root, unless it is told to do without its sandbox; of anybody else it is not asked."""
    given = shown_by(folder, server, "view", "first")
    assert "--new-window" in given and ("--no-sandbox" in given) == (os.geteuid() == 0)
    assert given[-1].startswith("file:///")


def test_the_demo_is_shown_by_the_page_alone(server, folder):
    """Where it is a browser of our own, in one that has nothing to remember."""
    given = shown_by(folder, server, "demo", "--out", folder / "shown")
    assert re.fullmatch(r"--app=http://127\.0\.0\.1:\d+/#live=.*&world=1", given[-1])
    assert ("--incognito" in given) == ("--use-angle=swiftshader" in given)


def test_without_a_graphics_processor_the_browser_is_told_to_draw_in_software(server, folder):
    """In one of our own: a browser that runs already draws as it did when it was started."""
    given = shown_by(folder, server, "view", "first")
    has_one = any(map(os.path.exists, ["/dev/nvidia0", "/dev/dxg"])) or any(pathlib.Path("/dev").glob("dri/renderD*"))
    assert ("--enable-unsafe-swiftshader" in given) == ("--use-angle=swiftshader" in given) == (not has_one)
    profile = folder / f"moreau-window-{os.geteuid()}"
    assert (f"--user-data-dir={profile}" in given) == profile.exists() == (not has_one)
    assert has_one or profile.stat().st_mode & 0o077 == 0


@contextlib.contextmanager
def served(server, folder, *words, end=signal.SIGINT):
    """The address that `view --serve` prints, while it serves."""
    env = dict(os.environ, MOREAU_SERVER=server.address, XDG_CACHE_HOME=str(folder), CI="1")
    tool = subprocess.Popen([TOOL, "view", "--serve", *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield tool.stdout.readline().strip()
    finally:
        tool.send_signal(end)
        assert tool.wait(20) == (0 if end == signal.SIGINT else -end)
    assert not list(folder.rglob("served-*"))  # the copy is gone


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_of_what_was_served(server, folder, end):
    with served(server, folder, "first", end=end) as address:
        assert urllib.request.urlopen(address.partition("#")[0] + "episode.db").read(6) == b"SQLite"


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_copy_that_has_begun_goes_when_it_ends(server, folder, end):
    """Wherever the signal meets it: while it copies, or just behind that."""
    tool = subprocess.Popen([TOOL, "view", "--serve", "first"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env=dict(os.environ, MOREAU_SERVER=server.address, XDG_CACHE_HOME=str(folder), CI="1"))
    assert "takes a copy" in tool.stderr.readline()
    os.kill(tool.pid, end)
    assert tool.wait(20) in (-end, 0)
    assert not list(folder.rglob("served-*"))


def test_what_a_page_does_not_hold_is_served_by_ranges(server, folder):
    with served(server, folder, "first", "--step", "7") as address:
        page, _, link = address.partition("#")
        assert link == f"url={page}episode.db&episode={uid(server, 'first')}&step=7"
        assert b"<title>" in urllib.request.urlopen(page).read()
        whole = urllib.request.urlopen(page + "episode.db").read()
        assert whole.startswith(b"SQLite format 3\0")
        for asked, part in {"bytes=100-199": whole[100:200], "bytes=4096-": whole[4096:], f"bytes=0-{2**40}": whole}.items():
            reply = urllib.request.urlopen(urllib.request.Request(page + "episode.db", headers={"Range": asked}))
            assert reply.status == 206 and reply.read() == part
            assert reply.headers["Content-Range"].endswith(f"/{len(whole)}")
        for wrong, status in [((page + "episode.db", {"Range": f"bytes={len(whole)}-"}), 416), ((page + "other", {}), 404),
                              ((page, {"Host": "elsewhere.example"}), 404), ((page[:page.index("/", 8)] + "/", {}), 404)]:
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(wrong[0], headers=wrong[1]))
            assert refused.value.code == status


def browse(address, what, *options):
    """What an expression is in the page at an address, once it is true or a minute has gone."""
    reads, writes = os.pipe(), os.pipe()
    browser = subprocess.Popen(["bash", "-c", f'exec "$0" "$@" 3<&{reads[0]} 4>&{writes[1]}', CHROMIUM, "--headless", "--no-sandbox",
                                "--disable-dev-shm-usage", "--remote-debugging-pipe", *options, "about:blank"],
                               pass_fds=[reads[0], writes[1]], stderr=subprocess.DEVNULL)
    os.close(reads[0])
    os.close(writes[1])
    asked = 0
    with os.fdopen(reads[1], "wb", 0) as to, os.fdopen(writes[0], "rb") as said:
        def call(method, session=None, **parameters):
            nonlocal asked
            asked += 1
            to.write(json.dumps({"id": asked, "method": method, "params": parameters, **({"sessionId": session} if session else {})}).encode() + b"\0")
            while True:
                line = b""
                while not line.endswith(b"\0"):
                    piece = said.read(1)
                    assert piece, "the browser has ended"
                    line += piece
                answer = json.loads(line[:-1])
                if answer.get("id") == asked:
                    return answer["result"]

        target = call("Target.createTarget", url=address)["targetId"]
        session = call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        until = time.monotonic() + 60
        while True:
            value = call("Runtime.evaluate", session, expression=what, returnByValue=True)["result"].get("value")
            if value or time.monotonic() > until:
                break
            time.sleep(0.2)
        call("Browser.close")
    browser.wait()
    return value


@needs_chromium
def test_the_page_reads_what_is_served(server, folder):
    with served(server, folder, "first") as address:
        said = browse(address, "document.getElementById('file-name').textContent.startsWith('episode.db') && document.body.innerText")
        assert "first" in said and "opening" not in said


@needs_chromium
def test_without_webgl_the_page_says_so_and_what_to_do(server, folder):
    """Also once an episode is open, whose own words stood in its place."""
    address = run(server, "view", "first", "--no-window", "--page", VIEWER, XDG_CACHE_HOME=str(folder)).stdout.strip()
    lacking = "document.getElementById('lacking')"
    said = browse(address, f"!document.getElementById('main').hidden && {lacking}.checkVisibility() && {lacking}.innerText",
                  "--disable-3d-apis")
    assert "no WebGL" in said and "hardware acceleration" in said
