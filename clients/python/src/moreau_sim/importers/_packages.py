# SPDX-License-Identifier: MIT
"""Where the files are that a model names: package://, package:///, model://, file:// and paths."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit


class Packages:
    """Folders in which packages are looked for: those that are given, $ROS_PACKAGE_PATH, and the file's own folder and
    all above it. A folder is also a package of its own name."""

    def __init__(self, file: pathlib.Path, folders: Iterable[str | os.PathLike[str]] = ()) -> None:
        self.here = file.absolute().parent
        named = [pathlib.Path(folder) for folder in folders]
        named += [pathlib.Path(folder) for folder in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if folder]
        self.folders = [*named, self.here, *self.here.parents]

    def package(self, name: str) -> pathlib.Path | None:
        """The folder of a package."""
        return next((folder for folder in self._candidates(name) if folder.is_dir()), None)

    def find(self, uri: str) -> pathlib.Path | None:
        """The file; None where there is none."""
        return next((path for path in self._paths(uri) if path.is_file()), None)

    def _candidates(self, name: str) -> Iterator[pathlib.Path]:
        for folder in self.folders:
            yield folder / name
            if folder.name == name:
                yield folder

    def _paths(self, uri: str) -> Iterator[pathlib.Path]:
        # a name such as C:/mesh.stl has no scheme, whatever urlsplit takes its letter for
        scheme = urlsplit(uri).scheme if "://" in uri else ""
        if scheme in ("package", "model"):
            name, _, rest = unquote(uri.split("://", 1)[1]).partition("/")
            if name:
                yield from (folder / rest for folder in self._candidates(name))
            else:
                yield from (folder / rest for folder in self.folders)
        elif scheme == "file":
            yield pathlib.Path(unquote(urlsplit(uri).path))
        else:
            yield self.here / uri
