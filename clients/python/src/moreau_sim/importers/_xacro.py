# SPDX-License-Identifier: MIT
"""xacro: macros that write URDF, read by the package of that name."""

from __future__ import annotations

import contextlib
import importlib
import pathlib
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from typing import Any

from ._imported import ImportFailed
from ._packages import Packages

_SPACES = ("http://www.ros.org/wiki/xacro", "http://ros.org/wiki/xacro", "http://wiki.ros.org/xacro")


def has_macros(root: ElementTree.Element) -> bool:
    """Whether it is to be expanded; files that were keep the name of the space, and nothing of it."""
    return any(
        name.startswith(tuple(f"{{{space}}}" for space in _SPACES))
        for element in root.iter()
        for name in (element.tag, *element.keys())
        if isinstance(name, str)
    )


def expand(path: pathlib.Path, packages: Packages, arguments: Mapping[str, str]) -> ElementTree.Element:
    try:
        import xacro  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise ImportFailed("it has macros, which the package xacro expands: pip install xacro") from None
    with _found_by(packages):
        try:
            document = xacro.process_file(str(path), mappings=dict(arguments))
            return ElementTree.fromstring(document.toxml())
        except ImportFailed:
            raise
        except Exception as error:  # it raises its own, and whatever an expression in the file does
            raise ImportFailed(f"xacro: {error or type(error).__name__}") from None


@contextlib.contextmanager
def _found_by(packages: Packages) -> Iterator[None]:
    """$(find PACKAGE) looks where package:// does, not in an installation of ROS, which need not be there."""

    def find(name: str) -> str:
        folder = packages.package(name)
        if folder is None:
            raise ImportFailed(f"there is no folder of a package {name}: name it or the one around it (--package-path)")
        return str(folder)

    arguments: Any = importlib.import_module("xacro.substitution_args")
    before = arguments._eval_find
    expressions = arguments._eval_dict
    arguments._eval_find = expressions["find"] = find
    try:
        yield
    finally:
        arguments._eval_find = expressions["find"] = before
