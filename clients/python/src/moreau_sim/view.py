# SPDX-License-Identifier: MIT
"""The viewer's page in the browser: with an episode inside, which needs neither the server nor a network; or on a
world of a group while that learns."""

from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile
import urllib.parse
import webbrowser
from typing import Any, overload

from moreau_sim_programs import in_package, on_path

from ._pages import has_page, live_address, page_address, reachable
from .errors import MoreauError
from .group import Group

PROGRAM, PAGE = "moreau", "moreau-viewer.html"


def _program(binary: str | os.PathLike[str] | None) -> pathlib.Path:
    found = binary or os.environ.get("MOREAU_BIN") or in_package(PROGRAM) or on_path(PROGRAM)
    if not found:
        raise FileNotFoundError(
            f"There is no {PROGRAM}, the program that puts an episode into the page: neither an argument, nor "
            f"$MOREAU_BIN, nor in this package, nor on PATH. "
            "Install a wheel that brings it, or build it and say where it is."
        )
    if not os.access(found, os.X_OK):
        raise FileNotFoundError(f"{found} is no program that can be run")
    return pathlib.Path(found)


def _show(address: str) -> None:
    if not webbrowser.open(address):
        raise MoreauError(f"There is no browser that could be opened: open {address} yourself.")


def _view_episode(
    episode: str,
    db: str | os.PathLike[str],
    step: int | None,
    out: str | os.PathLike[str] | None,
    page: str | os.PathLike[str] | None,
    binary: str | os.PathLike[str] | None,
    show: bool,
) -> pathlib.Path:
    program, viewer = _program(binary), page or os.environ.get("MOREAU_VIEWER")
    if viewer and not pathlib.Path(viewer).is_file():
        raise FileNotFoundError(
            f"{viewer} is not there: `page` and $MOREAU_VIEWER name {PAGE}, of the sources clients/web/page/{PAGE}"
        )
    path = pathlib.Path(out) if out else pathlib.Path(tempfile.mkdtemp(prefix="moreau-")) / "episode.html"
    options = ["--page", os.fspath(viewer)] if viewer else []
    done = subprocess.run(
        [program, "export", episode, "--db", os.fspath(db), "--html", path, *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        if not out:
            path.parent.rmdir()
        raise MoreauError((done.stderr or done.stdout).strip().removeprefix(f"{PROGRAM}: "))
    path = path.resolve()
    if show:
        _show(path.as_uri() + (f"#step={step}" if step is not None else ""))
    return path


def _view_world(group: Group, index: int, http: str | None, token: str | None, show: bool) -> str:
    if not 0 <= index < group.count:
        raise ValueError(f"index: the group has the worlds 0 to {group.count - 1}, not {index}")
    listens = group.client.welcome.http
    how = "start it with --http ADDRESS --viewer moreau-viewer.html, or by launch(http=True)"
    if http is None and not listens:
        raise MoreauError(f"The server at {group.client.address} shows no pages: {how}.")
    where = http or reachable(listens or "", group.client.address)
    if not has_page(where):
        raise MoreauError(f"{page_address(where)} has not the viewer's page: {how}.")
    shown = f"&token={urllib.parse.quote(token)}" if token else ""
    address = live_address(where, f"group={group.id}&index={index}{shown}")
    if show:
        _show(address)
    return address


def _group_of(env: Any) -> Group:
    worlds = getattr(getattr(env, "unwrapped", env), "worlds", None)
    group = env if isinstance(env, Group) else getattr(worlds, "group", None)
    if not isinstance(group, Group):
        raise TypeError(
            f"what is viewed is an episode's name, a Group or an environment of moreau_sim.gym, not "
            f"{type(env).__name__}"
        )
    return group


@overload
def view(
    what: str,
    where: str | os.PathLike[str],
    *,
    step: int | None = None,
    out: str | os.PathLike[str] | None = None,
    page: str | os.PathLike[str] | None = None,
    binary: str | os.PathLike[str] | None = None,
    show: bool = True,
) -> pathlib.Path: ...


@overload
def view(what: Any, where: int = 0, *, http: str | None = None, token: str | None = None, show: bool = True) -> str: ...


def view(
    what: Any,
    where: Any = 0,
    *,
    step: int | None = None,
    out: str | os.PathLike[str] | None = None,
    page: str | os.PathLike[str] | None = None,
    binary: str | os.PathLike[str] | None = None,
    http: str | None = None,
    token: str | None = None,
    show: bool = True,
) -> pathlib.Path | str:
    """Opens an episode of a server's file in the browser: `view("falls", "episodes.db")`, and returns the page that it
    wrote; or a world of a group while that learns: `view(env)`, `view(group, 17)`, and returns the address.

    Of an episode:
    what       its id, the first digits of that, or its name
    where      the file (`launch(db=...)`, `--db`), also while a server has it
    step       at which the page opens; None: at the first
    out        where the page is written; None: a new temporary file, which stays, as the browser reads it later
    page       the viewer's own page; None: $MOREAU_VIEWER, or the one beside the program `moreau` or installed with it
    binary     that program; None: $MOREAU_BIN, this package's, or the one on PATH

    Of a world of a group:
    what       the group, or an environment of moreau_sim.gym
    where      the world's index in the group
    http       HOST:PORT where the browser finds the server's pages (through a tunnel, say); None: as the server says
    token      put into the address, for the page, which takes it out again; None: the page asks, where the server
               demands one

    show       False: no browser is opened
    """
    if isinstance(what, str):
        if isinstance(where, int):
            raise TypeError(f"where is the file that has the episode {what!r}?")
        return _view_episode(what, where, step, out, page, binary, show)
    return _view_world(_group_of(what), int(where), http, token, show)
