# SPDX-License-Identifier: MIT
"""Messages to bytes and back: the protobuf wire format, for the messages of protocol.py.

Columns of numbers are what this is for: a packed column becomes a NumPy array by one copy of its
bytes at most, never number by number. Bytes that are no message raise WireError, whatever they are.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from numbers import Integral
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray


class WireError(ValueError):
    """Bytes that are no message, or a value that no message can carry."""


class Kind(IntEnum):
    """How a field is written; the order matters to nobody."""

    DOUBLE = 0
    FLOAT = 1
    FIXED64 = 2
    UINT64 = 3
    UINT32 = 4
    INT64 = 5
    BOOL = 6
    ENUM = 7
    STRING = 8
    BYTES = 9
    MESSAGE = 10


class Field(NamedTuple):
    """One field of a message."""

    number: int
    name: str
    kind: Kind
    is_repeated: bool
    of: type | None  # the class of a message or an enum


class Message:
    """Base of the messages. FIELDS is set once all of them are there."""

    __slots__ = ()
    FIELDS: ClassVar[tuple[Field, ...]] = ()


M = TypeVar("M", bound=Message)

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_TYPES: dict[Kind, np.dtype[Any]] = {
    Kind.DOUBLE: np.dtype("<f8"),
    Kind.FLOAT: np.dtype("<f4"),
    Kind.FIXED64: np.dtype("<u8"),
}
_FIXED_FORMS = {Kind.DOUBLE: "<d", Kind.FLOAT: "<f", Kind.FIXED64: "<Q"}
_VARINT_TYPES: dict[Kind, np.dtype[Any]] = {
    Kind.UINT64: np.dtype(np.uint64),
    Kind.UINT32: np.dtype(np.uint32),
    Kind.INT64: np.dtype(np.int64),
    Kind.BOOL: np.dtype(np.bool_),
    Kind.ENUM: np.dtype(np.uint32),
}
_WIRE_TYPES = {Kind.DOUBLE: _FIXED64, Kind.FLOAT: _FIXED32, Kind.FIXED64: _FIXED64}
_BOUNDS = {
    Kind.UINT64: (0, 2**64 - 1),
    Kind.UINT32: (0, 2**32 - 1),
    Kind.INT64: (-(2**63), 2**63 - 1),
    Kind.BOOL: (0, 1),
    Kind.ENUM: (0, 2**31 - 1),
}
_OCTETS = [bytes([octet]) for octet in range(0x80)]
FEW_BYTES = 128  # of a column that is read number by number, as arrays cost some microseconds
DEPTH_MAX = 32  # of messages in messages; the protocol has fewer than ten


# ---- to bytes


def varint(value: int) -> bytes:
    """A number that is not negative."""
    if value < 0x80:
        return _OCTETS[value]
    if value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _pack_varints(values: NDArray[Any]) -> bytes:
    words = values.astype(np.uint64)
    if not np.any(words > 0x7F):
        return words.astype(np.uint8).tobytes()
    # a byte for every seven bits that there are
    shifts = np.arange(0, 70, 7, dtype=np.uint64)
    parts = words[:, None] >> shifts[None, :]
    counts = np.maximum((parts != 0).sum(axis=1), 1)
    place = np.arange(10)
    octets = (parts & np.uint64(0x7F)).astype(np.uint8)
    octets |= np.where(place[None, :] < (counts - 1)[:, None], 0x80, 0).astype(np.uint8)
    return bytes(octets[place[None, :] < counts[:, None]].tobytes())


def _column(field: Field, value: Any) -> bytes:
    if field.kind in _FIXED_TYPES and field.kind is not Kind.FIXED64:
        try:
            numbers = np.asarray(value, dtype=_FIXED_TYPES[field.kind])
        except (TypeError, ValueError) as error:
            raise WireError(f"{field.name}: {error}") from None
        return bytes(np.ascontiguousarray(numbers).tobytes())
    integers = np.asarray(value)
    if integers.size == 0:
        return b""
    # of NumPy's unsigned integers in a list with others NumPy itself makes floats, which lose the last digits
    if integers.dtype.kind == "f" and isinstance(value, (list, tuple)):
        if all(isinstance(item, Integral) for item in value):
            integers = np.array(value, dtype=object)
    if integers.dtype == object:
        integers = np.array([_integer(field, item) for item in integers.ravel()], dtype=np.uint64)
    if integers.dtype.kind not in "uib":
        raise WireError(f"{field.name}: integers are asked for, not {integers.dtype}")
    low, high = _BOUNDS.get(field.kind, (0, 2**64 - 1))
    if integers.dtype.kind != "b" and (int(integers.min()) < low or int(integers.max()) > high):
        raise WireError(f"{field.name}: a number is not within {low} … {high}")
    if field.kind is Kind.FIXED64:
        return integers.ravel().astype("<u8").tobytes()
    return _pack_varints(integers.ravel())


def _integer(field: Field, value: Any) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise WireError(f"{field.name}: an integer is asked for, not {value!r}") from None
    low, high = _BOUNDS.get(field.kind, (0, 2**64 - 1))
    if number != value or not low <= number <= high:
        raise WireError(f"{field.name}: {value!r} is no integer of {low} … {high}")
    return number & (2**64 - 1)


def _payload(field: Field, value: Any) -> bytes:
    if field.kind is Kind.MESSAGE:
        if field.of is None or not isinstance(value, field.of):
            raise WireError(
                f"{field.name}: a {field.of and field.of.__name__} is asked for, not {type(value).__name__}"
            )
        assert isinstance(value, Message)
        return encode(value)
    if field.kind is Kind.STRING:
        if not isinstance(value, str):
            raise WireError(f"{field.name}: text is asked for, not {type(value).__name__}")
        return value.encode()
    return bytes(value)


def _single(field: Field, value: Any, key: bytes) -> bytes:
    if field.kind >= Kind.STRING:
        payload = _payload(field, value)
        return key + varint(len(payload)) + payload
    if field.kind in _FIXED_FORMS:
        try:
            return key + struct.pack(_FIXED_FORMS[field.kind], value)
        except (struct.error, OverflowError) as error:
            raise WireError(f"{field.name}: {error}") from None
    return key + varint(_integer(field, value))


def _wire_type(field: Field) -> int:
    return _BYTES if field.kind >= Kind.STRING else _WIRE_TYPES.get(field.kind, _VARINT)


def _key(field: Field) -> bytes:
    return varint(field.number << 3 | (_BYTES if field.is_repeated else _wire_type(field)))


class _Fields:
    """The fields of a class of messages, as encode and decode go through them."""

    def __init__(self, of: type[Message]) -> None:
        self.by_number = {field.number: field for field in of.FIELDS}
        self.by_name = {field.name: field for field in of.FIELDS}
        self.keyed = [(field, _key(field)) for field in of.FIELDS]
        self.keys = {field.name: key for field, key in self.keyed}
        names = [field.name for field in of.FIELDS]
        # of two fields at least it gives a tuple
        self.values = attrgetter(*names, *names[:1]) if names else lambda _: ()
        # columns may come packed or not
        self.names = {field.number << 3 | _wire_type(field): field.name for field in of.FIELDS}
        self.names |= {field.number << 3 | _BYTES: field.name for field in of.FIELDS if field.is_repeated}
        self.lists = {field.name for field in of.FIELDS if field.is_repeated and field.kind >= Kind.STRING}

    def set_in(self, message: Message) -> list[tuple[Field, bytes, Any]]:
        """The fields that a message says something of."""
        return [
            (field, key, value) for (field, key), value in zip(self.keyed, self.values(message)) if value is not None
        ]


_FIELDS: dict[type[Message], _Fields] = {}


def _fields(of: type[Message]) -> _Fields:
    fields = _FIELDS.get(of)
    if fields is None:
        fields = _FIELDS[of] = _Fields(of)
    return fields


def encode(message: Message) -> bytes:
    """The bytes of a message. WireError names a field that they cannot carry."""
    parts = []
    for field, key, value in _fields(type(message)).set_in(message):
        if not field.is_repeated:
            parts.append(_single(field, value, key))
        elif field.kind >= Kind.STRING:
            parts += [_single(field, item, key) for item in value]
        else:
            payload = _column(field, value)
            if payload:
                parts.append(key + varint(len(payload)) + payload)
    return b"".join(parts)


def key_of(of: type[Message], name: str) -> bytes:
    """What stands in front of a field of a message. Behind it stands a number (varint), or, of bytes, of a packed
    column and of a message, their length and they themselves; and fields behind each other are a message."""
    return _fields(of).keys[name]


# ---- from bytes


def read_varint(view: memoryview, at: int) -> tuple[int, int]:
    """The number that stands there, and where the next thing does."""
    value = shift = 0
    try:
        while shift < 70:
            octet = view[at]
            at += 1
            if octet < 0x80:
                return (value | octet << shift) & 0xFFFFFFFFFFFFFFFF, at
            value |= (octet & 0x7F) << shift
            shift += 7
    except IndexError:
        pass
    raise WireError("a number ends too early, or never")


def _unpack_few(view: memoryview) -> list[int]:
    """What _unpack_varints() does, for less."""
    numbers = []
    number = shift = 0
    for octet in view:
        number |= (octet & 0x7F) << shift
        if octet > 0x7F:
            shift += 7
        else:
            if shift > 63:
                raise WireError("a number of a column is too long")
            numbers.append(number & 0xFFFFFFFFFFFFFFFF)
            number = shift = 0
    if shift:
        raise WireError("a column ends within a number")
    return numbers


def _unpack_varints(view: memoryview, kind: np.dtype[Any]) -> NDArray[Any]:
    if len(view) <= FEW_BYTES:
        return np.array(_unpack_few(view), np.uint64).astype(kind)
    octets = np.frombuffer(view, np.uint8)
    ends = octets < 0x80
    if ends.all():
        return octets.astype(kind)
    if not ends[-1]:
        raise WireError("a column ends within a number")
    last = np.flatnonzero(ends)
    first = np.concatenate(([0], last[:-1] + 1))
    lengths = last - first + 1
    if lengths.max() > 10:
        raise WireError("a number of a column is too long")
    shifts = 7 * (np.arange(len(octets)) - np.repeat(first, lengths))
    parts = (octets & 0x7F).astype(np.uint64) << shifts.astype(np.uint64)
    words: NDArray[np.uint64] = np.bitwise_or.reduceat(parts, first)
    return words.astype(kind)


def _aligned(view: memoryview, kind: np.dtype[Any]) -> NDArray[Any]:
    """An array of its own over the bytes, or over a copy where they lie at an odd place."""
    if len(view) % kind.itemsize != 0:
        raise WireError("a column ends within a number")
    numbers = np.frombuffer(view, kind)
    return numbers if numbers.flags.aligned and numbers.flags.writeable else numbers.copy()


def _numbers(field: Field, wire: int, view: memoryview) -> NDArray[Any]:
    """What one occurrence of a repeated number holds: many of them packed, or one."""
    if field.kind in _FIXED_TYPES:
        if wire not in (_BYTES, _WIRE_TYPES[field.kind]):
            raise WireError(f"{field.name}: not a number")
        return _aligned(view, _FIXED_TYPES[field.kind])
    if wire not in (_BYTES, _VARINT):
        raise WireError(f"{field.name}: not an integer")
    return _unpack_varints(view, _VARINT_TYPES[field.kind])


def _value(field: Field, wire: int, view: memoryview, depth: int) -> Any:
    if field.kind >= Kind.STRING:
        if wire != _BYTES:
            raise WireError(f"{field.name}: not of bytes")
        if field.kind is Kind.MESSAGE:
            assert field.of is not None
            return decode(field.of, view, depth + 1)
        if field.kind is Kind.BYTES:
            return bytes(view)
        try:
            return str(view, "utf-8")
        except UnicodeDecodeError:
            raise WireError(f"{field.name}: not UTF-8") from None
    if field.kind in _FIXED_FORMS:
        if wire != _WIRE_TYPES[field.kind]:
            raise WireError(f"{field.name}: not a number")
        return struct.unpack(_FIXED_FORMS[field.kind], view)[0]
    if wire != _VARINT:
        raise WireError(f"{field.name}: not an integer")
    word, _ = read_varint(view, 0)
    return _meaning(field, word)


def _meaning(field: Field, word: int) -> Any:
    if field.kind is Kind.BOOL:
        return word != 0
    if field.kind is Kind.INT64:
        return word - 2**64 if word >= 2**63 else word
    if field.kind is Kind.UINT32:
        return word & 0xFFFFFFFF
    if field.kind is Kind.ENUM:
        assert field.of is not None
        try:
            return field.of(word)
        except ValueError:
            return word  # of a newer server
    return word


def _span(view: memoryview, at: int, wire: int) -> tuple[int, int]:
    """Where the value of a field begins and ends."""
    if wire == _VARINT:
        return at, read_varint(view, at)[1]
    if wire == _BYTES:
        count, at = read_varint(view, at)
    elif wire in (_FIXED64, _FIXED32):
        count = 8 if wire == _FIXED64 else 4
    else:
        raise WireError(f"a field of wire type {wire}")
    if count > len(view) - at:
        raise WireError("a field is longer than its message")
    return at, at + count


def decode(of: type[M], data: bytes | bytearray | memoryview, depth: int = 0) -> M:
    """The message that the bytes are. Fields that it does not know are passed over. Arrays share the
    memory of `data` where they can: hand over what nobody writes to afterwards."""
    if depth > DEPTH_MAX:
        raise WireError("messages in messages without end")
    view = data if isinstance(data, memoryview) else memoryview(data)
    table = _fields(of).by_number if of.FIELDS else {}
    message = of()
    columns: dict[str, list[NDArray[Any]]] = {}
    at = 0
    while at < len(view):
        key, at = read_varint(view, at)
        begin, at = _span(view, at, key & 7)
        field = table.get(key >> 3)
        if field is None:
            continue
        value = view[begin:at]
        if not field.is_repeated:
            setattr(message, field.name, _value(field, key & 7, value, depth))
        elif field.kind >= Kind.STRING:
            items = getattr(message, field.name)
            if items is None:
                items = []
                setattr(message, field.name, items)
            items.append(_value(field, key & 7, value, depth))
        else:
            columns.setdefault(field.name, []).append(_numbers(field, key & 7, value))
    for name, parts in columns.items():
        setattr(message, name, parts[0] if len(parts) == 1 else np.concatenate(parts))
    return message


def skim(of: type[Message], data: bytearray | memoryview) -> dict[str, Any]:
    """The fields of a message that are there, by name, each as the bytes that it holds (of what is repeated and no
    number: a list of them), for who wants few of many: read_varint, read_column, decode go on from there."""
    view = memoryview(data)
    fields = _fields(of)
    names = fields.names
    found: dict[str, Any] = {}
    at, end = 0, len(view)
    while at < end:
        key = view[at]
        at += 1
        if key > 0x7F:
            key, at = read_varint(view, at - 1)
        if key & 7 == _BYTES and at < end and view[at] < 0x80:  # most of them
            begin = at + 1
            at = begin + view[at]
            if at > end:
                raise WireError("a field is longer than its message")
        else:
            begin, at = _span(view, at, key & 7)
        name = names.get(key)
        if name is None:
            if key >> 3 in fields.by_number:
                raise WireError(f"{fields.by_number[key >> 3].name}: of wire type {key & 7}")
        elif name in fields.lists:
            found.setdefault(name, []).append(view[begin:at])
        elif name in found and fields.by_name[name].is_repeated:
            found[name] = memoryview(bytearray(found[name]) + view[begin:at])  # a column in pieces
        else:
            found[name] = view[begin:at]
    return found


def read_column(of: type[Message], name: str, view: memoryview) -> NDArray[Any]:
    """Of what skim() found: a column of numbers."""
    return _numbers(_fields(of).by_name[name], _BYTES, view)
