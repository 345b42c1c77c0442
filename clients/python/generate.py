#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes src/moreau_sim/protocol.py and src/moreau_sim/calls.py from proto/moreau.proto.

    clients/python/generate.py [--check]

Needs protoc and the Python package protobuf (Debian: protobuf-compiler python3-protobuf); whoever uses
the client needs neither. --check writes nothing and fails where the files are not what it would write.
"""

from __future__ import annotations

import keyword
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

from google.protobuf import descriptor_pb2 as pb

HERE = pathlib.Path(__file__).resolve().parent
PROTO = HERE.parent.parent / "proto" / "moreau.proto"
PACKAGE = HERE / "src" / "moreau_sim"
HEAD = '# SPDX-License-Identifier: MIT\n# Made from proto/moreau.proto by clients/python/generate.py: change these.\n'

F = pb.FieldDescriptorProto
# what a number is called in the wire format's table, and its NumPy type
KINDS = {
    F.TYPE_DOUBLE: ("DOUBLE", "float", "np.float64"),
    F.TYPE_FLOAT: ("FLOAT", "float", "np.float32"),
    F.TYPE_FIXED64: ("FIXED64", "int", "np.uint64"),
    F.TYPE_UINT64: ("UINT64", "int", "np.uint64"),
    F.TYPE_UINT32: ("UINT32", "int", "np.uint32"),
    F.TYPE_INT64: ("INT64", "int", "np.int64"),
    F.TYPE_BOOL: ("BOOL", "bool", "np.bool_"),
    F.TYPE_STRING: ("STRING", "str", None),
    F.TYPE_BYTES: ("BYTES", "bytes", None),
    F.TYPE_ENUM: ("ENUM", "int", "np.uint32"),
    F.TYPE_MESSAGE: ("MESSAGE", "", None),
}
# replies that several calls share
SHARED = {
    "WorldAddMaterials": "WorldAddReply",
    "WorldAddGeometries": "WorldAddReply",
    "WorldAddShapes": "WorldAddReply",
    "WorldAddBodies": "WorldAddReply",
    "WorldAddJoints": "WorldAddReply",
    "GroupReset": "GroupStepReply",
    "GroupReceive": "GroupStepReply",
    "GroupRead": "GroupStepReply",
}
# what a call sends before its reply
EVENTS = {
    "EpisodeReplay": "EpisodeFrames",
    "EpisodeVerify": "EpisodeProgress",
    "EpisodeCompare": "EpisodeProgress",
    "EpisodeTouches": "EpisodeProgress",
    "EpisodeBackup": "BackupProgress",
    "Subscribe": "LiveFrame",
}


def describe() -> pb.FileDescriptorProto:
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "set"
        subprocess.run(
            [
                "protoc",
                f"--proto_path={PROTO.parent}",
                "--include_source_info",
                f"--descriptor_set_out={out}",
                str(PROTO),
            ],
            check=True,
        )
        return pb.FileDescriptorSet.FromString(out.read_bytes()).file[0]


def comment_at(lines: list[str], begin: int, end: int) -> str:
    """What is said of what stands on lines begin … end: behind it and in the lines below that are indented
    further, or, where nothing is, in the lines above that are not."""
    code = lines[begin]
    indent = len(code) - len(code.lstrip())
    said: list[str] = []
    tail = lines[begin].partition("//")[2] if "{" in code or begin == end else lines[end].partition("//")[2]
    if tail:
        said.append(tail)
        for line in lines[begin + 1 :]:
            text = line.lstrip()
            if not text.startswith("//") or len(line) - len(text) <= indent:
                break
            said.append(text[2:])
        return " ".join(" ".join(said).split())
    for line in reversed(lines[:begin]):
        text = line.lstrip()
        if not text.startswith("//") or len(line) - len(text) != indent or text.startswith("// ---"):
            break
        said.insert(0, text[2:])
    return " ".join(" ".join(said).split())


def comments(file: pb.FileDescriptorProto) -> dict[tuple[int, ...], str]:
    lines = PROTO.read_text().splitlines()
    found = {}
    for location in file.source_code_info.location:
        path = tuple(location.path)
        # of messages, fields, enums and their values: their paths end with a number of their own
        if len(path) % 2 == 0 and path:
            end = location.span[2] if len(location.span) == 4 else location.span[0]
            text = comment_at(lines, location.span[0], end)
            if text:
                found[path] = text
    return found


def name_of(field: F) -> str:
    return field.name + "_" if keyword.iskeyword(field.name) else field.name


def type_name(field: F) -> str:
    return field.type_name.removeprefix(".moreau.v1.")


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def quote(text: str, indent: str) -> str:
    """A docstring, wrapped."""
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    lines, line = [], indent + '"""'
    for word in text.split(" "):
        if len(line) + 1 + len(word) > 110 and line.strip() != '"""':
            lines.append(line)
            line = indent + word
        else:
            line += word if line.endswith('"""') or line == indent else " " + word
    lines.append(line + ('"""' if not text.endswith('"') else ' """'))
    return "\n".join(lines)


def reachable(messages: dict[str, pb.DescriptorProto], root: str) -> set[str]:
    seen: set[str] = set()
    todo = [root]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        todo += [type_name(f) for f in messages[name].field if f.type == F.TYPE_MESSAGE]
    return seen


def annotation(field: F, is_sent: bool, module: str = "") -> str:
    """The type of a field, of a message as `module` has it. Columns that are sent may be any sequence of numbers."""
    kind, plain, number = KINDS[field.type]
    if field.type in (F.TYPE_MESSAGE, F.TYPE_ENUM):
        plain = module + type_name(field)
    if field.label != F.LABEL_REPEATED:
        return f"{plain} | None"
    if number is None:
        return f"Sequence[{plain}]" if is_sent else f"list[{plain}]"
    return "ArrayLike" if is_sent else f"NDArray[{number}]"



def write_message(message: pb.DescriptorProto, path: tuple[int, ...], notes: dict, sent: set[str]) -> list[str]:
    out = ["", "", "@dataclass(slots=True, kw_only=True)", f"class {message.name}(Message):"]
    body: list[str] = []
    if path in notes:
        body += [quote(notes[path], "    "), ""]
    for index, enum in enumerate(message.enum_type):
        body.append(f"    class {enum.name}(IntEnum):")
        enum_path = path + (4, index)
        if enum_path in notes:
            body += [quote(notes[enum_path], "        "), ""]
        for place, value in enumerate(enum.value):
            body.append(f"        {value.name} = {value.number}")
            if enum_path + (2, place) in notes:
                body.append(quote(notes[enum_path + (2, place)], "        "))
        body.append("")
    for index, field in enumerate(message.field):
        is_column = field.label == F.LABEL_REPEATED
        empty = "None" if not is_column or message.name in sent else "_new(default_factory=list)"
        kind = annotation(field, message.name in sent)
        if is_column and message.name in sent:
            kind = f"{kind} | None"
        elif is_column and KINDS[field.type][2] is not None:
            empty = f"_new(default_factory=lambda: np.empty(0, {KINDS[field.type][2]}))"
        body.append(f"    {name_of(field)}: {kind} = {empty}")
        if path + (2, index) in notes:
            body.append(quote(notes[path + (2, index)], "    "))
    if not body:
        body.append("    pass")
    return out + body


def write_table(message: pb.DescriptorProto) -> list[str]:
    rows = []
    for field in message.field:
        of = type_name(field) if field.type in (F.TYPE_MESSAGE, F.TYPE_ENUM) else "None"
        many = field.label == F.LABEL_REPEATED
        rows.append(f'    Field({field.number}, "{name_of(field)}", Kind.{KINDS[field.type][0]}, {many}, {of}),')
    return [f"{message.name}.FIELDS = (", *rows, ")"] if rows else []


def protocol(file: pb.FileDescriptorProto) -> str:
    notes = comments(file)
    messages = {m.name: m for m in file.message_type}
    sent = reachable(messages, "Request")
    lines = [
        HEAD
        + '"""Every message of the protocol, as proto/moreau.proto has it, with its comments. A field that is None is',
        'absent. Columns that are sent may be any sequence of numbers; those that come are arrays of their own."""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Sequence",
        "from dataclasses import dataclass",
        "from dataclasses import field as _new",
        "from enum import IntEnum",
        "",
        "import numpy as np",
        "from numpy.typing import ArrayLike, NDArray",
        "",
        "from ._wire import Field, Kind, Message",
    ]
    for index, message in enumerate(file.message_type):
        lines += write_message(message, (4, index), notes, sent)
    lines += ["", ""]
    for message in file.message_type:
        lines += write_table(message)
    return "\n".join(lines) + "\n"


def wrapped(line: str, indent: str) -> list[str]:
    """A line with brackets, broken where it is too long: an argument a line."""
    if len(line) <= 110:
        return [line]
    begin, end = line.index("(") + 1, line.rindex(")")
    parts, depth, last = [], 0, begin
    for at in range(begin, end):
        depth += (line[at] in "([") - (line[at] in ")]")
        if line[at] == "," and depth == 0:
            parts.append(line[last:at].strip())
            last = at + 1
    parts.append(line[last:end].strip())
    return [line[:begin], *(f"{indent}    {part}," for part in parts), indent + line[end:]]


def explain(message: pb.DescriptorProto, notes: dict[tuple[int, ...], str], index: int) -> str:
    """What the .proto says of a call and its fields, as a method's docstring."""
    said = notes.get((4, index), f"See protocol.{message.name}.")
    text = quote(said, "        ")
    parts = [
        (name_of(part), notes[4, index, 2, place])
        for place, part in enumerate(message.field)
        if (4, index, 2, place) in notes
    ]
    if not parts:
        return text
    width = max(len(name) for name, _ in parts)
    lines = [text.removesuffix('"""').rstrip(), ""]
    for name, note in parts:
        note = note.replace("\\", "\\\\").replace('"""', "'''")
        lines += textwrap.wrap(
            note, 112, initial_indent=f"        {name:{width}}  ", subsequent_indent=" " * (10 + width)
        )
    return "\n".join([*lines, '        """'])


def write_call(
    field: F,
    messages: dict[str, pb.DescriptorProto],
    results: dict[str, str],
    notes: dict[tuple[int, ...], str],
    index: int,
) -> list[str]:
    message = messages[type_name(field)]
    reply = results[field.name]
    event = EVENTS.get(message.name)
    arguments = []
    for part in message.field:
        kind = annotation(part, True, "p.")
        kind = kind if kind.endswith("| None") else f"{kind} | None"
        arguments.append(f"{name_of(part)}: {kind} = None")
    head = f"    def {field.name}(self, *, " + ", ".join([*arguments, "deadline_ms: int | None = None"]) + ")"
    given = ", ".join(f"{name_of(part)}={name_of(part)}" for part in message.field)
    if event is None:
        returns, verb = f"p.{reply}", "call"
    else:
        returns, verb = f"Stream[p.{event}, p.{reply}]", "stream"
    classes = f"p.{reply}" if event is None else f"p.{event}, p.{reply}"
    return [
        "",
        *wrapped(head + f" -> {returns}:", "    "),
        explain(message, notes, index),
        *wrapped(f"        return self._{verb}(p.{message.name}({given}), {classes}, deadline_ms)", "        "),
    ]


def calls(file: pb.FileDescriptorProto) -> str:
    notes = comments(file)
    messages = {m.name: m for m in file.message_type}
    by_number = {f.number: type_name(f) for f in messages["Reply"].field if f.type == F.TYPE_MESSAGE}
    lines = [
        HEAD + '"""Every call of the protocol as a method."""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Sequence",
        "from typing import TypeVar",
        "",
        "from numpy.typing import ArrayLike",
        "",
        "from . import protocol as p",
        "from ._stream import Stream",
        "from ._wire import Message",
        "",
        'R = TypeVar("R", bound=Message)',
        'E = TypeVar("E", bound=Message)',
        "",
        "",
        "class Calls:",
        '    """What Client can ask of a server. Arguments are the fields of the call\'s message."""',
        "",
        "    def _call(self, message: Message, result: type[R], deadline_ms: int | None) -> R:",
        "        raise NotImplementedError",
        "",
        "    def _stream(self, message: Message, event: type[E], result: type[R], deadline_ms: int | None) "
        "-> Stream[E, R]:",
        "        raise NotImplementedError",
    ]
    results = {}
    for field in messages["Request"].field:
        if field.HasField("oneof_index"):
            results[field.name] = SHARED.get(type_name(field)) or by_number[field.number]
    for field in messages["Request"].field:
        if field.HasField("oneof_index") and field.name != "hello":
            index = [m.name for m in file.message_type].index(type_name(field))
            lines += write_call(field, messages, results, notes, index)
    return "\n".join(lines) + "\n"


def main() -> int:
    file = describe()
    stale = []
    for path, text in ((PACKAGE / "protocol.py", protocol(file)), (PACKAGE / "calls.py", calls(file))):
        if sys.argv[1:] == ["--check"]:
            if not path.exists() or path.read_text() != text:
                stale.append(path.name)
        else:
            path.write_text(text)
    if stale:
        print(f"{', '.join(stale)}: not what proto/moreau.proto gives; run clients/python/generate.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
