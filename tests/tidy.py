#!/usr/bin/env python3
"""Checks what no compiler checks: which room includes what, which library a room uses, sizes of files and functions, and that
the dynamics library stays free of sockets, threads, clocks and rounding that differs between machines.

  tests/tidy.py [BUILD_DIR]     with a build directory it also reads what the built dynamics library links

The table is the architecture: a new room, or a new arrow between rooms, is a row here and nowhere else."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# room: (rooms it may include beside itself, library headers it may include)
LIBC = {"assert.h", "ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "stdalign.h", "stdarg.h",
        "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "strings.h", "time.h"}
POSIX = {"fcntl.h", "signal.h", "unistd.h", "sys/types.h", "sys/stat.h", "sys/resource.h", "sys/socket.h", "sys/un.h",
         "sys/uio.h", "sys/wait.h", "netinet/in.h", "netinet/tcp.h", "arpa/inet.h", "netdb.h", "poll.h", "sched.h"}
PROTO = {"moreau.pb-c.h"}
TABLE = {
    "server/base": (set(), LIBC),
    "server/os": ({"base"}, LIBC | {"sys/resource.h", "fcntl.h", "unistd.h"}),
    "server/world": ({"base"}, LIBC),
    "server/collide": ({"base", "world"}, LIBC),
    "server/solve": ({"base"}, LIBC),
    "server/step": ({"base", "world", "collide", "solve"}, LIBC),
    "server/log": ({"base", "os"}, LIBC | {"sqlite3.h", "uv.h", "fcntl.h", "unistd.h", "sys/file.h", "sys/stat.h"}),
    "server/run": ({"base", "os", "world", "collide", "solve", "step", "log"}, LIBC | {"uv.h"}),
    "server/replay": ({"base", "os", "world", "solve", "step", "log", "run"}, LIBC | {"uv.h"}),
    "server/net": ({"base", "os"}, LIBC | POSIX | {"uv.h"}),
    "server/http": ({"base", "os"}, LIBC | {"unistd.h", "uv.h", "libwebsockets.h"}),
    "server/wire": ({"base", "world", "solve", "step", "log", "run"}, LIBC | PROTO | {"protobuf-c/protobuf-c.h"}),
    "server/api": ({"base", "os", "world", "collide", "solve", "step", "log", "run", "replay", "wire"},
                   LIBC | PROTO | {"protobuf-c/protobuf-c.h"}),
    "server": ({"base", "os", "world", "collide", "solve", "step", "log", "run", "replay", "net", "http", "wire", "api"},
               LIBC | POSIX | {"uv.h", "ini.h", "malloc.h"}),
    "clients/c": (set(), LIBC | POSIX | PROTO | {"protobuf-c/protobuf-c.h"}),
    "clients/cli": ({"c"}, LIBC | POSIX | PROTO | {"protobuf-c/protobuf-c.h", "jansson.h", "moreau.h", "sys/ioctl.h"}),
}
DYNAMICS = ["server/base", "server/world", "server/collide", "server/solve", "server/step"]
# what reads a recording and steps it again must build where there is no thread, socket, file or recorder: beside the dynamics it
# includes nothing but itself
REPLAYED = ["server/run/apply", "server/run/input", "server/log/chunk", "server/log/entries", "server/log/frames"]
LIBM_INEXACT = re.compile(r"\b(sin|cos|tan|asin|acos|atan|atan2|sincos|exp|exp2|expm1|log|log2|log10|log1p|pow|cbrt|hypot|tgamma|"
                          r"lgamma|erf|sinh|cosh|tanh|fma)f?\s*\(")
IMPURE = re.compile(r"\b(clock_now_ns|clock_wall_ns|clock_gettime|gettimeofday|time|rand|random|srand|pthread_\w+|uv_\w+|getenv)\s*\(")
FILE_LINES_MAX = 1000
FUNCTION_LINES_MAX = 70

problems = []


def complain(path, line, text):
    problems.append(f"{path.relative_to(ROOT)}:{line}: {text}")


def room_of(path):
    return str(path.relative_to(ROOT).parent)


def sources(*rooms):
    for room in rooms:
        yield from sorted((ROOT / room).glob("*.[ch]"))


def strip_comments(text):
    """Code without comments and strings, with every line where it was."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def check_includes(path, text):
    room = room_of(path)
    rooms, headers = TABLE[room]
    own_name = room.split("/")[-1] if "/" in room else ""
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(<([^>]+)>|"([^"]+)")', line)
        if not match:
            continue
        header = match.group(2) or match.group(3)
        if match.group(2) or header in PROTO or header in headers:
            if header not in headers:
                complain(path, number, f"room {room} may not include <{header}>")
            continue
        target = header.split("/")[0] if "/" in header else ("" if room == "server" else own_name)
        if target not in rooms and target != own_name:
            complain(path, number, f"room {room} may not include room {target or 'server'} ({header})")


def check_replayed():
    own = {path.removeprefix("server/") + ".h" for path in REPLAYED}
    for path in (ROOT / f"{stem}.{suffix}" for stem in REPLAYED for suffix in "ch"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*(<([^>]+)>|"([^"]+)")', line)
            if match and match.group(3) and "server/" + match.group(3).split("/")[0] not in DYNAMICS and match.group(3) not in own:
                complain(path, number, f"a page that steps an episode again has no {match.group(3)}")
            if match and match.group(2) and match.group(2) not in LIBC:
                complain(path, number, f"a page that steps an episode again has no <{match.group(2)}>")


def check_sizes(path, text):
    lines = text.splitlines()
    if len(lines) > FILE_LINES_MAX:
        complain(path, 1, f"{len(lines)} lines; at most {FILE_LINES_MAX}")
    if not lines or "SPDX-License-Identifier: MIT" not in lines[0]:
        complain(path, 1, "the first line must be the SPDX line")
    start = None
    for number, line in enumerate(lines, 1):
        if re.match(r"[A-Za-z_].*\)?\s*\{\s*$", line) and "=" not in line and not re.match(r"(typedef|struct|enum|union|extern)\b", line):
            start = number
        elif line == "{" and start is None:
            start = number
        elif line == "}" and start is not None:
            if number - start + 1 > FUNCTION_LINES_MAX:
                complain(path, start, f"a function of {number - start + 1} lines; at most {FUNCTION_LINES_MAX}")
            start = None


def check_words(path, code, text):
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\b(TODO|FIXME|XXX)\b", line):
            complain(path, number, "an unfinished mark")
    room = room_of(path)
    for number, line in enumerate(code.splitlines(), 1):
        if room in DYNAMICS and LIBM_INEXACT.search(line):
            complain(path, number, "this function of libm is not rounded alike on every machine: use base/ or algebra")
        if room in DYNAMICS and IMPURE.search(line) and "ClockProc" not in line:
            complain(path, number, "the dynamics read no clock, thread, environment or random source")
        if re.match(r"#\s*if\s+0\b", line):
            complain(path, number, "dead code")


def check_library(build):
    """The dynamics library must not ask for a symbol of libuv, protobuf-c, SQLite or threads, nor for inexact libm."""
    library = build / "libmoreau-dynamics.a"
    if not library.exists():
        complain(ROOT / "CMakeLists.txt", 1, f"{library} is not built")
        return
    symbols = subprocess.run(["nm", "--undefined-only", str(library)], capture_output=True, text=True, check=True).stdout
    for line in symbols.splitlines():
        name = line.split()[-1] if line.split() else ""
        if re.match(r"(uv_|protobuf_c_|moreau__v1__|sqlite3_|pthread_(?!self)|sin$|cos$|exp$|pow$|log$|atan2?$|acos$|fma$)", name):
            complain(ROOT / "CMakeLists.txt", 1, f"libmoreau-dynamics links {name}")


def main():
    for path in sources(*TABLE):
        text = path.read_text()
        code = strip_comments(text)
        check_includes(path, text)
        check_sizes(path, text)
        check_words(path, code, text)
    check_replayed()
    for path in sorted((ROOT / "tests").rglob("*.[ch]")):
        check_sizes(path, path.read_text())
    for room in sorted({room_of(p) for p in ROOT.glob("server/**/*.[ch]")} - set(TABLE)):
        problems.append(f"{room}: a room without a row in tests/tidy.py")
    if len(sys.argv) > 1:
        check_library(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) if problems else f"tidy: {len(TABLE)} rooms as they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
