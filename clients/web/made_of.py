#!/usr/bin/env python3
"""What the viewer's page is made of, and whether clients/web/page, which is checked in, is still that.

  clients/web/made_of.py              prints it, a line for each part
  clients/web/made_of.py --check      whether page/made_of says the same; if not, `deploy/web` is to be run
  clients/web/made_of.py --same PAGE  whether a page built just now is the one that is checked in, to the byte

A part is what the page would be wrong without: its own sources, the packages in it, the version of the dynamics, the
golden bits, which may change within a version until it is released, and the kinds of what it reads and steps. The C
sources of the module in it (the last line) change with every comment, and not what it does: `--check` leaves them out,
and `--same` compares the module only where they are the same."""
import base64
import hashlib
import json
import pathlib
import re
import sys
import zlib

WEB = pathlib.Path(__file__).resolve().parent
ROOT = WEB.parent.parent
PAGE, RECORD = WEB / "page/moreau-viewer.html", WEB / "page/made_of"
GOLDEN = ROOT / "tests/step/check_golden.c"
ENUMS = {  # the line's name: the type whose members it lists
    "shapes": "PrimitiveKind",
    "joints": "JointKind",
    "chunks": "ChunkKind",
    "inputs": "InputKind",
    "group_inputs": "GroupInputKind",
}


def digest(texts):
    whole = hashlib.sha256()
    for text in texts:
        whole.update(b"%d\n" % len(text) + text)
    return whole.hexdigest()[:32]


def without_includes(path):
    """A source of the module; where its headers lie says nothing about it."""
    return re.sub(rb"^#include .*\n", b"", path.read_bytes(), flags=re.M)


def list_sources():
    """Name and text of all that the page's own part is built of. The folder of a file says nothing."""
    scripts = [path for path in (WEB / "src").rglob("*") if path.is_file()]
    scripts += [WEB / "build.mjs", WEB / "tsconfig.json"]
    module = list(WEB.rglob("prove*.[ch]")) + [WEB / "descriptors.c"]
    texts = {path.relative_to(WEB).as_posix(): path.read_bytes() for path in scripts}
    texts |= {path.name: without_includes(path) for path in module if "node_modules" not in path.parts}
    return [part for name in sorted(texts) for part in (name.encode(), texts[name])]


def list_packages():
    """The packages in the page and those that build it, with the hashes of package-lock.json."""
    packages = json.loads((WEB / "package-lock.json").read_text())["packages"]
    builders = {f"node_modules/{name}" for name in ("vite", "esbuild", "rollup")}
    kept = {path: package["integrity"] for path, package in packages.items() if path and (not package.get("dev") or path in builders)}
    return [f"{path} {kept[path]}".encode() for path in sorted(kept)]


def find_kinds(headers, name):
    """The members of an enum, or of the list of X(...) that makes them."""
    for text in headers:
        enum = re.search(rf"typedef enum {name} {{(.*?)}} {name};", text, flags=re.S)
        if enum is None:
            continue
        made = re.search(r"(\w+_MAP)\(X\)", enum[1])
        if made is not None:
            rows = re.search(rf"#define {made[1]}\(X\)((?:.*\\\n)+.*)", text)
            return re.findall(r"\bX\((\w+)", rows[1])
        members = re.sub(r"//.*", "", enum[1]).split(",")
        return [member.split("=")[0].strip() for member in members if member.strip() and not member.strip().endswith("_COUNT")]
    sys.exit(f"made_of.py: there is no enum {name} in server/")


def list_parts():
    headers = [path.read_text() for path in sorted((ROOT / "server").rglob("*.h"))]
    parts = {"sources": digest(list_sources()), "packages": digest(list_packages())}
    parts["dynamics_version"] = next(found[1] for found in (re.search(r"DYNAMICS_VERSION = (\d+)", text) for text in headers) if found)
    parts["bits"] = digest(value.encode() for value in re.findall(r"\b0x[0-9a-f]{9,16}u\b", GOLDEN.read_text()))
    parts |= {line: " ".join(find_kinds(headers, name)) for line, name in ENUMS.items()}
    module = [path for folder in ("server", "clients/web") for path in (ROOT / folder).rglob("*.[ch]") if "node_modules" not in path.parts]
    module += [ROOT / "proto/moreau.proto", ROOT / "deploy/wasm32.cmake", ROOT / "deploy/web"]
    names = sorted((path.relative_to(ROOT).as_posix(), path) for path in module)
    parts["module"] = digest([part for name, path in names for part in (name.encode(), path.read_bytes())])
    return parts


def read_record():
    return dict(line.split(" ", 1) for line in RECORD.read_text().splitlines())


def check():
    now, then = list_parts(), read_record()
    changed = [name for name in now if name != "module" and now[name] != then.get(name)]
    for name in changed:
        print(f"clients/web/page: the page is of other {name}: {then.get(name)}, now {now[name]}")
    if changed:
        sys.exit("clients/web/page is to be built again: run deploy/web, and check in what it changes")


def take_data(page):
    """The page without its data, and the data by id, unpacked: how well they are packed depends on the machine."""
    data = {}

    def take(found):
        data[found[1]] = zlib.decompress(base64.b64decode(found[2]), wbits=31)
        return ""

    return re.sub(r'<script type="application/octet-stream;base64" id="([\w-]+)">([^<]*)</script>', take, page), data


def same(path):
    (text, data), (text_then, data_then) = (take_data(pathlib.Path(page).read_text()) for page in (path, PAGE))
    if list_parts()["module"] != read_record()["module"]:
        print("made_of.py: the C sources have changed since the page was built, and none of what it depends on: its module is left out")
        data.pop("moreau-proof-wasm", None), data_then.pop("moreau-proof-wasm", None)
    different = [name for name in data.keys() | data_then.keys() if data.get(name) != data_then.get(name)]
    different += ["its text"] if text != text_then else []
    if different:
        sys.exit(f"{path} is not {PAGE.relative_to(ROOT)}: {', '.join(different)}")
    print(f"{PAGE.relative_to(ROOT)} is what its sources make, to the byte")


if __name__ == "__main__":
    if sys.argv[1:] == []:
        print("".join(f"{name} {value}\n" for name, value in list_parts().items()), end="")
    elif sys.argv[1:] == ["--check"]:
        check()
    elif len(sys.argv) == 3 and sys.argv[1] == "--same":
        same(sys.argv[2])
    else:
        sys.exit(__doc__)
