# SPDX-License-Identifier: MIT
"""Messages from JSON, as scene files have them: field names of the proto, or camelCase; enums by name."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np

from ._wire import Field, Kind, Message, WireError

M = TypeVar("M", bound=Message)


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def _single(field: Field, value: Any, path: str) -> Any:
    if field.kind is Kind.MESSAGE:
        assert field.of is not None
        return from_json(field.of, value, path)
    if field.kind is Kind.ENUM:
        assert field.of is not None and issubclass(field.of, IntEnum)
        try:
            return field.of[value] if isinstance(value, str) else field.of(value)
        except (KeyError, ValueError):
            raise WireError(f"{path}: {value!r} is none of {', '.join(field.of.__members__)}") from None
    if field.kind is Kind.STRING and not isinstance(value, str):
        raise WireError(f"{path}: text is asked for, not {value!r}")
    if field.kind is Kind.BOOL and not isinstance(value, bool):
        raise WireError(f"{path}: true or false is asked for, not {value!r}")
    if field.kind not in (Kind.STRING, Kind.BYTES, Kind.BOOL):
        # 64-bit integers are strings in JSON
        try:
            return float(value) if field.kind in (Kind.DOUBLE, Kind.FLOAT) else int(value)
        except (TypeError, ValueError):
            raise WireError(f"{path}: a number is asked for, not {value!r}") from None
    return value


def from_json(of: type[M], value: Any, path: str = "") -> M:
    """The message that a JSON value says. WireError names the path of a key or a value that it does not take."""
    if isinstance(value, of):
        return value
    if not isinstance(value, Mapping):
        raise WireError(f"{path or of.__name__}: an object is asked for, not {value!r}")
    fields = {field.name: field for field in of.FIELDS}
    fields |= {_camel(field.name): field for field in of.FIELDS}
    message = of()
    for key, item in value.items():
        where = f"{path}.{key}" if path else str(key)
        field = fields.get(key)
        if field is None:
            raise WireError(f"{where}: {of.__name__} has no such field")
        if not field.is_repeated:
            setattr(message, field.name, _single(field, item, where))
            continue
        if not isinstance(item, (list, tuple, np.ndarray)):
            raise WireError(f"{where}: a list is asked for, not {item!r}")
        setattr(message, field.name, [_single(field, one, f"{where}[{i}]") for i, one in enumerate(item)])
    return message
