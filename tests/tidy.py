#!/usr/bin/env python3
"""Checks what no compiler checks: which room includes what, which library a room uses, that no room or file includes its includer, sizes of
rooms, files and functions, and that the dynamics library stays free of sockets, threads, clocks and rounding that differs between machines.

  tests/tidy.py [BUILD_DIR]     with a build directory it also reads what the built dynamics library links, and how it was compiled
  tests/tidy.py --self          finds what is wrong in samples that are wrong

The table is the architecture: a new room, or a new arrow between rooms, is a row here and nowhere else."""
import collections
import json
import pathlib
import re
import shlex
import subprocess
import sys

import asserts

ROOT = pathlib.Path(__file__).resolve().parent.parent

# room: (rooms it may include beside itself, library headers it may include). A room inside a room is one of its own,
# with a row of its own.
LIBC = {"assert.h", "ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "stdalign.h", "stdarg.h",
        "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "strings.h", "time.h"}
POSIX = {"fcntl.h", "signal.h", "unistd.h", "sys/types.h", "sys/stat.h", "sys/resource.h", "sys/socket.h", "sys/un.h",
         "sys/uio.h", "sys/wait.h", "netinet/in.h", "netinet/tcp.h", "arpa/inet.h", "netdb.h", "poll.h", "sched.h"}
PROTO = {"moreau.pb-c.h"}
SOLVERS = ("mdp", "lcp", "ccp", "sap", "compliant") # none includes another
FILES = {"sqlite3.h", "fcntl.h", "unistd.h", "sys/file.h", "sys/stat.h", "sys/statvfs.h"}
MESSAGES = {*PROTO, "protobuf-c/protobuf-c.h"}
TLS = {f"openssl/{name}.h" for name in ("bio", "err", "pem", "rand", "ssl", "x509v3")}
DIGEST = {"openssl/evp.h"}
RUN = {"run/lanes", "run/worlds", "run/groups"}
REPLAY = {f"replay/{name}" for name in ("player", "show", "verify", "compare", "resume")}
PLAYS = {"base", "os", "world", "solve", "step", "step/snapshot", "log/format", "log/reader", *RUN}
ANSWERS = {"base", "os", "access", "world", "solve", "step", "step/joints", "step/snapshot", "log", "log/reader", "wire",
           "wire/problem", "wire/scene", *RUN}
TOOL = {"cli/base", "cli/text", "cli/json"}
TABLE = {
    "server/base": (set(), LIBC),
    "server/os": ({"base"}, LIBC | {"sys/resource.h", "sys/stat.h", "fcntl.h", "unistd.h", "sched.h", "libgen.h", "sys/ioctl.h", "sys/prctl.h",
                                    "sys/syscall.h", "linux/audit.h", "linux/filter.h", "linux/seccomp.h", "pthread.h", "signal.h",
                                    "uv.h"}),
    "server/access": ({"base", "os"}, LIBC | DIGEST | {"openssl/err.h", "openssl/pem.h", "fcntl.h", "unistd.h", "sys/stat.h"}),
    "server/geometry": ({"base"}, LIBC),
    "server/world": ({"base", "geometry"}, LIBC),
    "server/hull": ({"base", "geometry"}, LIBC | {"setjmp.h", "libqhull_r/qhull_ra.h"}),
    "server/collide": ({"base", "geometry", "world"}, LIBC),
    "server/collide/box": ({"base", "world", "collide"}, LIBC),
    "server/solve": ({"base", "solve/dense"}, LIBC),
    "server/solve/dense": ({"base"}, LIBC),
    "server/solve/newton": ({"base", "solve", "solve/dense"}, LIBC),
    "server/solve/descent": ({"base", "solve", "solve/dense", "solve/newton"}, LIBC),
    **{f"server/solve/{name}": ({"base", "solve", "solve/dense", "solve/newton", "solve/descent"}, LIBC) for name in SOLVERS},
    "server/step/trees": ({"base", "world", "solve", "solve/dense"}, LIBC),
    "server/step/state": ({"base", "world", "collide", "solve", "step/trees"}, LIBC),
    "server/step/rows": ({"base", "world", "solve", "solve/dense", "step/state"}, LIBC),
    "server/step/joints": ({"base", "world", "solve", "step/state", "step/rows"}, LIBC),
    "server/step": ({"base", "world", "collide", "solve", "step/trees", "step/state", "step/rows", "step/joints"}, LIBC),
    "server/step/snapshot": ({"base", "world", "solve", "step"}, LIBC),
    "server/log/format": ({"base", "os"}, LIBC | FILES),
    "server/log/wal": ({"base", "os", "log/format"}, LIBC | FILES),
    "server/log/writer": ({"base", "os", "access", "log/format", "log/wal"}, LIBC | {"sqlite3.h"}),
    "server/log/reader": ({"base", "log/format"}, LIBC | {"sqlite3.h"}),
    "server/log/recovery": ({"base", "os", "log/format", "log/wal", "log/writer"}, LIBC | FILES),
    "server/log": ({"base", "os", "access", "log/format", "log/wal", "log/writer", "log/reader"}, LIBC | FILES | {"uv.h"}),
    "server/run/lanes": ({"base", "os"}, LIBC | {"uv.h"}),
    "server/run/worlds": ({"base", "os", "access", "world", "solve", "step", "step/snapshot", "log", "log/format", "run/lanes"},
                          LIBC | {"uv.h"}),
    "server/run/groups": ({"base", "os", "access", "world", "collide", "solve", "step", "step/joints", "step/snapshot", "log", "log/format", "run/lanes",
                           "run/worlds"}, LIBC | {"uv.h"}),
    "server/replay/player": (PLAYS, LIBC | {"uv.h"}),
    **{f"server/{name}": (PLAYS | {"access", "replay/player"}, LIBC | {"uv.h"}) for name in REPLAY - {"replay/player"}},
    "server/net": ({"base", "os", "net/tls"}, LIBC | POSIX | {"uv.h"}),
    "server/net/tls": ({"base", "os"}, LIBC | POSIX | TLS | {"pthread.h", "ifaddrs.h"}),
    "server/http": ({"base", "os"}, LIBC | {"unistd.h", "uv.h", "libwebsockets.h", "openssl/ssl.h", "sys/socket.h", "netinet/in.h",
                                            "netinet/tcp.h"}),
    "server/wire/problem": ({"base", "solve"}, LIBC | MESSAGES),
    "server/wire": ({"base", "world", "solve", "step", "log/format", "wire/problem"} | RUN, LIBC | MESSAGES),
    "server/wire/scene": ({"base", "world", "solve", "step", "run/worlds", "wire"}, LIBC | MESSAGES),
    "server/api": (ANSWERS | {"hull"}, LIBC | MESSAGES),
    "server/api/calls": (ANSWERS | REPLAY | {"api", "collide"}, LIBC | MESSAGES),
    "server": ({"base", "os", "access", "log/recovery", "net", "net/tls", "http", "api"} | RUN, LIBC | POSIX | {"uv.h", "ini.h", "malloc.h", "sys/ioctl.h",
                                                                                                      "sys/prctl.h", "link.h", "libgen.h"}),
    "clients/c": (set(), LIBC | POSIX | MESSAGES | TLS | {"pthread.h"}),
    "clients/cli/text": (set(), LIBC | {"jansson.h", "unistd.h", "sys/ioctl.h", "locale.h", "wchar.h"}),
    "clients/cli/base": ({"cli/text"}, LIBC | POSIX),
    "clients/cli/json": ({"cli/base", "cli/text"}, LIBC | MESSAGES | {"jansson.h"}),
    "clients/cli": (TOOL, LIBC | MESSAGES | {"moreau.h", "sys/stat.h"}),
    "clients/cli/protocol": (TOOL | {"cli"}, LIBC | MESSAGES),
    "clients/cli/files": (TOOL | {"cli"}, LIBC | POSIX | {"sqlite3.h"}),
    "clients/cli/problems": (TOOL | {"cli", "cli/protocol"}, LIBC | MESSAGES | {"jansson.h", "hdf5.h", "dlfcn.h"}),
    "clients/cli/worlds": (TOOL | {"cli"}, LIBC | MESSAGES | {"poll.h", "jansson.h"}),
    "clients/cli/episodes": (TOOL | {"cli", "cli/protocol"}, LIBC | MESSAGES | {"moreau.h"}),
    "clients/cli/view": (TOOL | {"cli", "cli/files"}, LIBC | POSIX | {"jansson.h", "moreau.h", "ftw.h", "sys/prctl.h"}),
    "clients/cli/export": (TOOL | {"cli", "cli/files", "cli/episodes", "cli/view"}, LIBC | POSIX | {"jansson.h"}),
    "clients/cli/runs": (TOOL | {"cli", "cli/protocol", "cli/episodes"}, LIBC | MESSAGES | {"jansson.h"}),
    "clients/cli/commands": (TOOL | {"access", "base", "cli", "cli/protocol", "cli/files", "cli/problems", "cli/worlds", "cli/episodes", "cli/view",
                                     "cli/export", "cli/runs"}, LIBC | POSIX | MESSAGES | {"jansson.h", "sys/file.h"}),
    "clients/web": ({"base", "os", "world", "step", "step/snapshot", "log/format", "wire/scene"} | RUN,
                    LIBC | {"protobuf-c/protobuf-c.h"}),
}
DYNAMICS = ("server/base/", "server/geometry/", "server/world/", "server/collide/", "server/solve/", "server/step/")
# files that include what their room may not, as that is what they are for
DOORS = {
    "server/solve/solver.c": {f"solve/{name}" for name in SOLVERS}, # the table of all solvers
    "server/solve/opinion.c": {"solve/mdp"},                        # asks for one by name
}
# files of a room that need each other, by their first name in the alphabet; each has its reason
CIRCLES = {
    "server/options": "what options that let people in ask of one another is a file of its own for its length",
    "server/world/sleep": "who sleeps is a part of the world, which wakes it when it is changed; a file of its own for its length",
    "server/api/api": "a request, its session and the reply that is kept for both begin and end each other",
    "server/replay/player/group_player": "the episode of a group is played behind the player's interface, by the player's own types",
}
# what reads a recording and steps it again must build where there is no thread, socket, file or recorder: beside the
# dynamics it includes nothing but itself
REPLAYED = ["server/run/worlds/apply", "server/run/worlds/input", "server/log/format/chunk", "server/log/format/entries",
            "server/log/format/frames"]
LIBM_INEXACT = re.compile(r"\b(sin|cos|tan|asin|acos|atan|atan2|sincos|exp|exp2|expm1|log|log2|log10|log1p|pow|cbrt|hypot|tgamma|"
                          r"lgamma|erf|sinh|cosh|tanh|fma)f?\s*\(")
IMPURE = re.compile(r"\b(clock_now_ns|clock_wall_ns|clock_gettime|gettimeofday|time|rand|random|srand|pthread_\w+|uv_\w+|getenv)\s*\(")
ROOM_FILES_MAX = 60
FILE_LINES_MAX = 1000
FUNCTION_LINES_MAX = 70
LINE_COLUMNS_MAX = 100

problems = []


def complain(path, line, text):
    problems.append(f"{path.relative_to(ROOT)}:{line}: {text}")


def room_of(path):
    return str(path.relative_to(ROOT).parent)


def short(room):
    """A room as the table's rows name it; the server's own files have no name."""
    return room.removeprefix("server").removeprefix("clients").removeprefix("/")


def is_dynamics(path):
    return path.startswith(DYNAMICS)


def strip_comments(text):
    """Code without comments and strings, with every line where it was."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def check_includes(path, text):
    room = room_of(path)
    rooms, headers = TABLE[room]
    doors = DOORS.get(path.relative_to(ROOT).as_posix(), set())
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(<([^>]+)>|"([^"]+)")', line)
        if not match:
            continue
        header = match.group(2) or match.group(3)
        if match.group(2) or header in PROTO or header in headers:
            if header not in headers:
                complain(path, number, f"room {room} may not include <{header}>")
            continue
        target = header.rpartition("/")[0] or short(room)
        if target != short(room) and target not in rooms | doors:
            complain(path, number, f"room {room} may not include room {target} ({header})")


def check_replayed():
    own = {path.removeprefix("server/") + ".h" for path in REPLAYED}
    for path in (ROOT / f"{stem}.{suffix}" for stem in REPLAYED for suffix in "ch"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*(<([^>]+)>|"([^"]+)")', line)
            if match and match.group(3) and not is_dynamics("server/" + match.group(3)) and match.group(3) not in own:
                complain(path, number, f"a page that steps an episode again has no {match.group(3)}")
            if match and match.group(2) and match.group(2) not in LIBC:
                complain(path, number, f"a page that steps an episode again has no <{match.group(2)}>")


def is_function(head):
    before = head.split("{")[0]
    return "(" in before and "=" not in before and not before.startswith("typedef")


def functions(code):
    """(first line, lines) of every function of code without comments, from the first line of its head to its last brace. What stands
    outside of functions and types ends with a brace in the first column, or in its one line."""
    head, start, depth = "", 0, 0
    for number, line in enumerate(code.splitlines(), 1):
        if re.match(r"#|END_TEST|.*\\$", line):
            continue
        if depth == 0 and line.strip():
            start = number if head == "" else start
            head += line + " "
        depth += line.count("{") - line.count("}")
        if line.startswith("}"):
            if is_function(head):
                yield start, number - start + 1
            head, depth = "", 0 # branches of the preprocessor may have led the count astray
        elif depth == 0 and line.rstrip().endswith((";", "}")):
            head = ""


def check_sizes(path, text, code):
    lines = text.splitlines()
    if len(lines) > FILE_LINES_MAX:
        complain(path, 1, f"{len(lines)} lines; at most {FILE_LINES_MAX}")
    if not lines or "SPDX-License-Identifier: MIT" not in lines[0]:
        complain(path, 1, "the first line must be the SPDX line")
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_COLUMNS_MAX:
            complain(path, number, f"{len(line)} columns; at most {LINE_COLUMNS_MAX}")
    for start, count in functions(code):
        if count > FUNCTION_LINES_MAX:
            complain(path, start, f"a function of {count} lines; at most {FUNCTION_LINES_MAX}")


def included(path, text):
    """The files of ours that a file includes, in order."""
    for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, flags=re.M):
        for folder in (ROOT / "server", ROOT / "tests", ROOT / "clients/c", path.parent):
            if (folder / header).exists():
                yield (folder / header).resolve()
                break


def check_own_header(path, text):
    """A file that has a header includes it first, which proves the header complete; and a header says that it is read once."""
    if path.suffix == ".h":
        if "#pragma once" not in text:
            complain(path, 1, "a header without #pragma once")
        return
    own = path.with_suffix(".h")
    first = re.search(r'^\s*#\s*include\s*[<"]([^>"]+)', text, flags=re.M)
    if own.exists() and pathlib.PurePath(first.group(1)).name != own.name:
        complain(path, text[:first.start()].count("\n") + 1, f"its own header comes first, not {first.group(1)}")


def check_circles(includes):
    """No file includes its includer, on whatever way; `includes` names for each file those that it includes."""
    seen = {}

    def visit(path, way):
        seen[path] = "open"
        for target in includes.get(path, []):
            if seen.get(target) == "open":
                circle = [*way[way.index(target):], target]
                complain(path, 1, "includes go round: " + " > ".join(str(file.relative_to(ROOT)) for file in circle))
            elif target not in seen:
                visit(target, [*way, target])
        seen[path] = "done"

    for path in sorted(includes):
        if path not in seen:
            visit(path, [path])


def circles(uses):
    """What reaches itself, as sorted lists of those that reach each other (Tarjan); `uses` names for each those that it uses."""
    order, low, way, found = {}, {}, [], []

    def visit(name):
        order[name] = low[name] = len(order)
        way.append(name)
        for target in uses.get(name, ()):
            if target not in order:
                visit(target)
            if target in way:
                low[name] = min(low[name], low[target])
        if low[name] == order[name]:
            at = way.index(name)
            if len(way) - at > 1:
                found.append(sorted(way[at:]))
            del way[at:]

    for name in sorted(uses):
        if name not in order:
            visit(name)
    return found


def check_source_circles(includes, defended):
    """Sources (a .c with its .h) that need each other are one thing in several files: each such circle is to be defended by a
    row of CIRCLES. Vectors of a kernel stand in a file of their own for their compiler flags, a validator as it is counted apart: no circle."""
    uses = {}
    for path, targets in includes.items():
        name = source_name(path)
        if not name.startswith("tests/"):
            uses.setdefault(name, set()).update(source_name(target) for target in targets if source_name(target) != name)
    known = dict(defended)
    for circle in circles(uses):
        if known.pop(circle[0], None) is None:
            complain(ROOT / (circle[0] + ".c"), 1, "sources need each other: " + ", ".join(circle))
    for name in known:
        complain(ROOT / "tests/tidy.py", 1, f"CIRCLES defends {name}, which is in no circle")


def source_name(path):
    name = re.sub(r"_(simd|avx2|parts|valid)$", "", path.relative_to(ROOT).with_suffix("").as_posix())
    return re.sub(r"([^/]+)/parts$", r"\1/\1", name) # of the source that has its room's name


def check_words(path, code, text):
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\b(TODO|FIXME|XXX)\b", line):
            complain(path, number, "an unfinished mark")
    exact = is_dynamics(path.relative_to(ROOT).as_posix())
    for number, line in enumerate(code.splitlines(), 1):
        if exact and LIBM_INEXACT.search(line):
            complain(path, number, "this function of libm is not rounded alike on every machine: use base/ or algebra")
        if exact and IMPURE.search(line) and "ClockProc" not in line:
            complain(path, number, "the dynamics read no clock, thread, environment or random source")
        if re.match(r"#\s*if\s+0\b", line):
            complain(path, number, "dead code")


def check_library(library):
    """The dynamics, and what steps a recording, ask for no symbol of libuv, protobuf-c, SQLite or threads, nor for inexact libm."""
    if not library.exists():
        complain(ROOT / "CMakeLists.txt", 1, f"{library} is not built")
        return
    symbols = subprocess.run(["nm", "--undefined-only", str(library)], capture_output=True, text=True, check=True).stdout
    for line in symbols.splitlines():
        name = line.split()[-1] if line.split() else ""
        if re.match(r"(uv_|protobuf_c_|moreau__v1__|sqlite3_|pthread_(?!self)|sin$|cos$|exp$|pow$|log$|atan2?$|acos$|fma$)", name):
            complain(ROOT / "CMakeLists.txt", 1, f"{library.name} links {name}")


def check_flags(command, source):
    """No flag behind ours may let a compiler join, reorder or guess arithmetic."""
    words = shlex.split(command)
    contract = [word for word in words if word.startswith("-ffp-contract")]
    if not contract or contract[-1] != "-ffp-contract=off":
        complain(source, 1, f"compiled with {contract[-1] if contract else 'no -ffp-contract'} last: the bits would differ")
    for word in words:
        if re.match(r"-(Ofast|ffast-math|funsafe-math-optimizations|fassociative-math|freciprocal-math|ffinite-math-only)$", word):
            complain(source, 1, f"compiled with {word}: the bits would differ")


def check_commands(build):
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if source.is_relative_to(ROOT) and is_dynamics(source.relative_to(ROOT).as_posix()):
            check_flags(entry["command"], source)


def check_rooms(rooms, table):
    """Every folder with sources has a row and not too many files, every row a folder, and every room that a row names is one; no
    room may include its includer. `rooms`: how many files each folder has."""
    for room in sorted(set(rooms) - set(table)):
        problems.append(f"{room}: a room without a row in tests/tidy.py")
    for room in sorted(set(table) - set(rooms)):
        problems.append(f"{room}: a row in tests/tidy.py without a room")
    for room in sorted(room for room, count in rooms.items() if count > ROOM_FILES_MAX):
        problems.append(f"{room}: {rooms[room]} files; a room has at most {ROOM_FILES_MAX}")
    for room, (others, _) in table.items():
        for other in sorted(others - {short(name) for name in table}):
            problems.append(f"{room}: its row names {other}, which is no room")
    for circle in circles({short(room): others - {short(room)} for room, (others, _) in table.items()}):
        problems.append("tests/tidy.py: rooms may include each other: " + ", ".join(circle))


def check_tree(build):
    includes = {}
    for path in sorted(path for folder in ("server", "clients", "tests") for path in (ROOT / folder).rglob("*.[ch]")):
        text = path.read_text()
        code = strip_comments(text)
        includes[path] = list(included(path, text))
        check_sizes(path, text, code)
        check_own_header(path, text)
        if room_of(path) in TABLE:
            check_includes(path, text)
            check_words(path, code, text)
    check_circles(includes)
    check_source_circles(includes, CIRCLES)
    check_replayed()
    for room, text in asserts.too_few(strip_comments, functions):
        complain(ROOT / room, 1, text)
    check_rooms(collections.Counter(room_of(path) for path in includes if not path.is_relative_to(ROOT / "tests")), TABLE)
    if build is not None:
        check_library(build / "libmoreau-dynamics.a")
        check_library(build / "libmoreau-episode.a")
        check_commands(build)


def take_problems():
    taken = problems[:]
    problems.clear()
    return taken


def check_self():
    """Each check finds its fault in a sample, and nothing in what is right."""
    body = "    x++;\n"
    here = ROOT / "server/base/sample.c"
    long_heads = {"one line": "static int f(int x) {\n", "two lines": "static int f(int first,\n             int second) {\n",
                  "K&R": "static int f(int x)\n{\n", "a test": "START_TEST(a_test) {\n", "attributes": "__attribute__((cold)) int\nf(void)\n{\n"}
    for name, head in long_heads.items():
        for count, expected in ((70 - head.count("\n") - 1, 0), (71 - head.count("\n") - 1, 1)):
            code = "enum { A };\nstatic const int t[] = {\n" + body * 80 + "};\n" + head + body * count + "}\n"
            check_sizes(here, "// SPDX-License-Identifier: MIT\n" + code, code)
            found = take_problems()
            assert len(found) == expected, (name, count, found)
    a, b, c = ROOT / "a.h", ROOT / "b.h", ROOT / "c.h"
    check_circles({a: [b], b: [c], c: []})
    assert not take_problems()
    check_circles({a: [b], b: [c], c: [a]})
    assert len(take_problems()) == 1
    check_source_circles({a.with_suffix(".c"): [b], b.with_suffix(".c"): [c], c: []}, {})
    assert not take_problems()
    check_source_circles({a.with_suffix(".c"): [b], b.with_suffix(".c"): [c], c.with_suffix(".c"): [a]}, {})
    assert len(take_problems()) == 1
    check_source_circles({}, {"server/step/none": "why"})
    assert len(take_problems()) == 1
    few = dict.fromkeys(TABLE, 1)
    check_rooms(few, TABLE)
    assert not take_problems()
    wrong_rooms = {"no row": ({**few, "server/solve/inner/inmost": 1}, TABLE), "no folder": ({"server/os": 1}, {**TABLE}),
                   "too many files": ({**few, "server/os": ROOM_FILES_MAX + 1}, TABLE),
                   "a circle": (few, {**TABLE, "server/base": ({"os"}, LIBC)})}
    for name, (rooms, table) in wrong_rooms.items():
        check_rooms(rooms, table)
        assert len(take_problems()) == (len(TABLE) - 1 if name == "no folder" else 1), name
    check_flags("cc -ffp-contract=fast -O2 -ffp-contract=off -c x.c", here)
    assert not take_problems()
    for flags in ("-ffp-contract=off -ffp-contract=fast", "-O2", "-ffast-math -ffp-contract=off"):
        check_flags(f"cc {flags} -c x.c", here)
        assert len(take_problems()) == 1, flags
    spdx, arena = "// SPDX-License-Identifier: MIT\n", ROOT / "server/base/arena.c"
    right = spdx + '#include "base/arena.h"\n\n#include <string.h>\n'
    samples = {  # faults by check, each of which finds one
        "sizes": lambda text: check_sizes(here, text, text),
        "includes": lambda text: check_includes(arena, text),
        "own header": lambda text: check_own_header(arena, text),
        "pragma": lambda text: check_own_header(arena.with_suffix(".h"), "#pragma once\n" * (text == right)),
        "words": lambda text: check_words(here, text, text),
    }
    wrong = {
        "sizes": (spdx + "\n" * FILE_LINES_MAX, "\n" + right, right + "/" * (LINE_COLUMNS_MAX + 1) + "\n"),
        "includes": (right + '#include "world/world.h"\n', right + "#include <uv.h>\n", right + "#include <sqlite3.h>\n"),
        "own header": ('#include "base/array.h"\n' + right, "#include <string.h>\n" + right),
        "pragma": ("",),
        "words": ("#if 0\n", "x = sin(y);\n", "t = clock_gettime(id, &now);\n", "// FIX" + "ME later\n"),
    }
    for name, check in samples.items():
        check(right)
        assert not take_problems(), name
        for text in wrong[name]:
            check(text)
            found = take_problems()
            assert len(found) == 1, (name, text[:60], found)


    said = "int f(int x) {\n    ASSERT(x > 0);\n    VALIDATE(is_whole(x));\n}\n"
    assert asserts.rate(strip_comments("#define ASSERT(x) x\n" + said + "void g(void) {\n    // ASSERT(no)\n}\n"), functions) == (2, 2)


def main():
    if sys.argv[1:] == ["--self"]:
        check_self()
        return 0
    check_tree(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    print("\n".join(problems) if problems else f"tidy: {len(TABLE)} rooms as they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
