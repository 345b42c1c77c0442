# SPDX-License-Identifier: MIT
"""An episode in the browser: the viewer's page with the episode inside, which needs neither the server nor a network."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
import webbrowser

from .errors import MoreauError

PROGRAM, PAGE = "moreau", "moreau-viewer.html"


def _program(binary: str | os.PathLike[str] | None) -> pathlib.Path:
    in_package = pathlib.Path(__file__).parent / "bin" / PROGRAM
    found = binary or os.environ.get("MOREAU_BIN") or (in_package if in_package.exists() else None) or shutil.which(PROGRAM)
    if not found:
        raise FileNotFoundError(
            f"There is no {PROGRAM}, the program that puts an episode into the page: neither an argument, nor $MOREAU_BIN, nor in this package, nor on PATH. "
            "Install a wheel that brings it, or build it and say where it is."
        )
    if not os.access(found, os.X_OK):
        raise FileNotFoundError(f"{found} is no program that can be run")
    return pathlib.Path(found)


def view(
    episode: str,
    db: str | os.PathLike[str],
    *,
    step: int | None = None,
    out: str | os.PathLike[str] | None = None,
    page: str | os.PathLike[str] | None = None,
    binary: str | os.PathLike[str] | None = None,
    show: bool = True,
) -> pathlib.Path:
    """Opens an episode of a server's file (`launch(db=...)`, `--db`) in the browser, and returns the page that it wrote.

    episode    its id, the first digits of that, or its name
    db         the file, also while a server has it
    step       at which the page opens; None: at the first
    out        where the page is written; None: a new temporary file, which stays, as the browser reads it later
    page       the viewer's own page; None: $MOREAU_VIEWER, or the one beside the program `moreau` or installed with it
    binary     that program; None: $MOREAU_BIN, this package's, or the one on PATH
    show       False: the page is only written
    """
    program, viewer = _program(binary), page or os.environ.get("MOREAU_VIEWER")
    if viewer and not pathlib.Path(viewer).is_file():
        raise FileNotFoundError(f"{viewer} is not there: deploy/web builds {PAGE}, which `page` or $MOREAU_VIEWER may name")
    path = pathlib.Path(out) if out else pathlib.Path(tempfile.mkdtemp(prefix="moreau-")) / "episode.html"
    options = ["--page", os.fspath(viewer)] if viewer else []
    done = subprocess.run(
        [program, "export", episode, "--db", os.fspath(db), "--html", path, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        if not out:
            path.parent.rmdir()
        raise MoreauError((done.stderr or done.stdout).strip().removeprefix(f"{PROGRAM}: "))
    path = path.resolve()
    address = path.as_uri() + (f"#step={step}" if step is not None else "")
    if show and not webbrowser.open(address):
        raise MoreauError(f"There is no browser that could be opened: open {address} yourself.")
    return path
