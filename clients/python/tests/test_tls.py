# SPDX-License-Identifier: MIT
"""Servers at tls://: who is trusted, what is said of who is not, and that frames are frames."""

import contextlib
import os
import pathlib
import re
import selectors
import shutil
import subprocess

import pytest

import moreau_sim
from moreau_sim import protocol as p
from moreau_sim.launch import Server


HERE = "subjectAltName=IP:127.0.0.1,DNS:localhost\n"


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A certificate that a server made itself, for this machine, and its fingerprint."""
    folder = tmp_path_factory.mktemp("tls") / "own"
    program = os.environ.get("MOREAU_SERVER_BIN") or shutil.which("moreau-server")
    said = subprocess.run([program, "--tls-self-signed", folder], check=True, capture_output=True, text=True).stdout
    return folder, re.search("sha256:[0-9a-f]{64}", said).group()


@contextlib.contextmanager
def serving(folder, *more):
    options = ["--workers", "1", "--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/key.pem", *more]
    with Server(None, options, 30.0, listen="127.0.0.1:0") as server:
        assert server.address.startswith("tls://127.0.0.1:")
        yield server


def come(address, **trust):
    return moreau_sim.Client(address, timeout_s=60.0, **trust)


def test_its_file_or_its_fingerprint_is_enough(own, monkeypatch):
    folder, fingerprint = own
    with serving(folder) as server:
        for trust in (
            {"tls_ca": folder / "cert.pem"},
            {"tls_fingerprint": fingerprint},
            {"tls_fingerprint": fingerprint.removeprefix("sha256:").upper()},
            {"tls_ca": folder / "cert.pem", "tls_fingerprint": fingerprint},
        ):
            with come(server.address, **trust) as client:
                client.ping()
        monkeypatch.setenv("MOREAU_TLS_FINGERPRINT", fingerprint)
        with come(server.address) as client:
            client.ping()
        with come(server.address.replace("127.0.0.1", "localhost"), tls_ca=folder / "cert.pem") as client:
            client.ping()


def test_who_is_not_trusted_hears_nothing(own, tmp_path):
    folder, fingerprint = own
    log = tmp_path / "log"
    with serving(folder, "--log-file", str(log)) as server:
        for trust, says in (({}, "is signed by nobody but itself"), ({"tls_fingerprint": 64 * "0"}, fingerprint)):
            with pytest.raises(moreau_sim.Untrusted, match=says):
                come(server.address, token="for nobody else's ears", **trust)
        assert "session=" not in log.read_text()


def certify(folder, name, days):
    """By openssl; negative days: it has expired."""
    files = {part: str(folder / f"{name}.{part}") for part in ("key", "csr", "pem", "ext")}
    pathlib.Path(files["ext"]).write_text("subjectAltName=DNS:elsewhere.example\n" if name == "other" else HERE)
    for words in (
        ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", files["key"]]
        + ["-subj", f"/CN={name}", "-out", files["csr"]],
        ["x509", "-req", "-in", files["csr"], "-signkey", files["key"], "-days", str(days), "-extfile", files["ext"]]
        + ["-out", files["pem"]],
    ):
        subprocess.run(["openssl", *words], check=True, capture_output=True)
    made = folder / name
    made.mkdir()
    shutil.copy(files["key"], made / "key.pem")
    shutil.copy(files["pem"], made / "cert.pem")
    return made


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
@pytest.mark.parametrize(("name", "days", "says"), [("late", -1, "has expired"), ("other", 9, "is for another")])
def test_what_is_wrong_with_a_certificate_is_a_sentence(tmp_path, name, days, says):
    folder = certify(tmp_path, name, days)
    with serving(folder) as server, pytest.raises(moreau_sim.Untrusted, match=says):
        come(server.address, tls_ca=folder / "cert.pem")


def test_clients_may_need_a_certificate(own):
    folder, fingerprint = own
    with serving(folder, "--tls-client-ca", f"{folder}/cert.pem") as server:
        with pytest.raises(moreau_sim.Untrusted, match="wants a certificate of its clients"):
            come(server.address, tls_fingerprint=fingerprint)


def test_tls_is_spoken_to_tls_and_plain_to_plain(own):
    folder, fingerprint = own
    with serving(folder) as server:
        plain = server.address.removeprefix("tls://")
        with pytest.raises(moreau_sim.MoreauError, match="connect to it as tls://"):
            come(plain)
        with pytest.raises(ValueError, match="write the address as tls://"):
            come(plain, tls_fingerprint=fingerprint)
    with Server(None, ["--workers", "1"], 30.0, listen="127.0.0.1:0") as server:
        with pytest.raises(moreau_sim.ConnectionLost, match="speaks no TLS"):
            come(f"tls://{server.address}", tls_fingerprint=fingerprint)
    with pytest.raises(ValueError, match="no fingerprint"), serving(folder) as server:
        come(server.address, tls_fingerprint="sha256:12")


def test_frames_of_every_length_come_whole(own):
    """Also while more is sent than the server takes before its replies are taken."""
    folder, fingerprint = own
    with serving(folder) as server, come(server.address, tls_fingerprint=fingerprint) as client:
        worlds = [client.world_create().world for _ in range(300)]
        assert len(client.world_list().worlds) == len(worlds)
        asked = [client.send(p.WorldList(), p.WorldListReply) for _ in range(300)]
        steps = [
            client.send(p.WorldStep(worlds=worlds[: 1 + 7 * i], steps=1), p.WorldStepReply)
            for i in range(len(worlds) // 7)
        ]
        assert all(len(one.result().worlds) == len(worlds) for one in asked)
        for one in steps:
            one.result()


def test_who_waits_for_several_connections_is_woken(own):
    """What TLS has read from the system already wakes nobody: it counts as there."""
    folder, fingerprint = own
    with serving(folder) as server, come(server.address, tls_fingerprint=fingerprint) as client:
        for _ in range(100):
            client.world_create()
        connection = client._connection
        asked = [client.send(p.WorldList(), p.WorldListReply) for _ in range(20)]
        with selectors.DefaultSelector() as selector:
            selector.register(connection, selectors.EVENT_READ)
            for one in asked:
                assert connection.has_frame or selector.select(60.0)
                one.result()
            assert not connection.has_frame and not selector.select(0.05)
