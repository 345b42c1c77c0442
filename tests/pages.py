#!/usr/bin/env python3
"""Checks what no compiler checks of prose: that links between pages lead somewhere, that the files and functions which
pages name exist, and that prose is narrow.

  tests/pages.py            every page (*.md), and the comments of every other file
  tests/pages.py --self     finds what is wrong in samples that are wrong

What is held, of a page:
  links       `[text](file#heading)`: the file and the heading are there
  files       `folder/file.c` in code marks: from the root, from the page's folder, or from server/; with * and [ch] as
              a shell has them; `file.c` alone: anywhere
  functions   `name()`: a function, method or macro somewhere in the sources. `name` and a link to a source file right
              behind it, as in `step_run` ([step/step.c](step.c)): the word is in that file
  parts       a block of code behind <!-- part of FILE --> is in that file as it stands
  tests       of SECURITY.md: each row of a table whose last column is `test` names one that is there
  columns     120 at most, but for rows of tables and what has no blank where it could be broken; README.md has 120
              lines at most
and of all other files that we write: comments that have a line of their own, 120 columns; C has 100, which tidy.py
holds. CHANGELOG.md tells of what was: its names are not looked for."""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS_MAX = 120
README_LINES_MAX = 120
SOURCES = {".c", ".h", ".py", ".go", ".rs", ".cpp", ".ts", ".mjs", ".proto", ".sh", ".cmake", ".css"}
# what is named in code marks and ends like this is a file of ours; all else (SCENE.json, episodes.db) is somebody's own
NAMED = re.compile(r"[\w.*/\[\]-]*[\w*\]]\.(?:\[ch\]|c|h|py|ts|mjs|proto|sh|cmake|md|svg)")
OTHERS = {  # names of that form that are no file of ours, or only of what is made
    "ball.c", "moreau_sim/moreau.proto",
}
COMMENTS = {".py": "#", ".sh": "#", "": "#", ".cmake": "#", ".txt": "#", ".toml": "#", ".in": "#",
            ".proto": "//", ".ts": "//", ".mjs": "//", ".go": "//", ".rs": "//", ".cpp": "//"}


def list_files():
    """What git knows, or would take in; without git, or in a copy that it knows nothing of, what lies on the disk."""
    asked = ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(asked, capture_output=True, text=True) if shutil.which("git") else None
    if listed is not None and listed.returncode == 0:
        names = listed.stdout.split("\n")
    else:
        made = {"build", ".git", "node_modules", "dist"}
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if not made & set(path.parts)]
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def read(path):
    try:
        return path.read_text()
    except UnicodeDecodeError:
        return ""


def slug(heading):
    """The anchor that a heading gets."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    return [slug(heading) for heading in re.findall(r"^#+ (.*)$", without_blocks(text), flags=re.M)]


def without_blocks(text):
    """The page with its blocks of code left empty, every line where it was."""
    return re.sub(r"^ *```.*?^ *```$", lambda match: re.sub(r"[^\n]", "", match.group(0)), text, flags=re.M | re.S)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


class Tree:
    """What pages may speak of."""

    def __init__(self, files):
        self.files = {path.relative_to(ROOT).as_posix() for path in files}
        self.names = {path.name for path in files}
        self.words = set()
        for path in files:
            if path.suffix in SOURCES:
                self.words.update(re.findall(r"(\w+)\s*\(", read(path)))

    def has_file(self, folder, name):
        if "/" not in name and name in self.names:
            return True
        return any(any(base.glob(name)) for base in (ROOT, folder, ROOT / "server"))


def check_links(page, text, complain):
    for match in re.finditer(r"\[[^\]\n]*(?:\n[^\]\n]+)?\]\(([^)\s]+)\)", text):
        target, _, anchor = match.group(1).partition("#")
        if re.match(r"\w+:", target):
            continue
        path = (page.parent / target).resolve()
        if target and not path.exists():
            complain(page, line_of(text, match.start()), f"a link to {match.group(1)}, which is not there")
        elif anchor and anchor not in anchors(path.read_text() if target else text):
            complain(page, line_of(text, match.start()), f"a link to #{anchor}, a heading that is not there")


def check_names(page, text, tree, complain):
    for match in re.finditer(r"`([^`\n]+)`", text):
        code, number = match.group(1), line_of(text, match.start())
        if NAMED.fullmatch(code) and code not in OTHERS and not tree.has_file(page.parent, code):
            complain(page, number, f"`{code}` is no file")
        call = re.fullmatch(r"(?:[\w.]+\.)?(\w+)\(.*\)", code)
        if call and call.group(1) not in tree.words:
            complain(page, number, f"`{code}` is no function")
    for match in re.finditer(r"`(\w+)`[ \n]\(?(?:(?:in|of)[ \n])?\[[^\]]*\]\(([^)#\s]+)\)", text):
        path = (page.parent / match.group(2)).resolve()
        if path.suffix in SOURCES and path.exists() and not re.search(rf"\b{match.group(1)}\b", path.read_text()):
            complain(page, line_of(text, match.start()), f"`{match.group(1)}` is not in {match.group(2)}")


def check_parts(page, text, complain):
    for match in re.finditer(r"^<!-- part of (\S+) -->\n```\w*\n(.*?)^```$", text, flags=re.M | re.S):
        path = ROOT / match.group(1)
        if not path.exists() or match.group(2) not in path.read_text():
            complain(page, line_of(text, match.start()), f"the block below is no part of {match.group(1)}")


def check_tests(page, text, complain):
    """Tables whose last column is `test`: each row names one or more that are there, as net/secure."""
    is_asked = False
    for number, line in enumerate(text.split("\n"), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            is_asked = False
        elif cells[-1] == "test":
            is_asked = True
        elif is_asked and not set(line) <= set("|- "):
            names = re.findall(r"`([\w/]+)`", cells[-1])
            if not names:
                complain(page, number, "the row names no test")
            for room, _, name in (test.rpartition("/") for test in names):
                if not any((ROOT / "tests" / room / f"{kind}{name}.c").is_file() for kind in ("check_", "")):
                    complain(page, number, f"there is no test {room}/{name}")


def check_columns(path, text, complain):
    for number, line in enumerate(text.splitlines(), 1):
        breakable = " " in line.strip().split("](")[0]
        if len(line) > COLUMNS_MAX and not line.startswith("|") and breakable:
            complain(path, number, f"{len(line)} columns; at most {COLUMNS_MAX}")
    if path == ROOT / "README.md" and text.count("\n") > README_LINES_MAX:
        complain(path, 1, f"{text.count(chr(10))} lines; at most {README_LINES_MAX}")


def check_comments(path, text, complain):
    mark = COMMENTS[path.suffix]
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS_MAX and line.lstrip().startswith(mark) and not line.startswith("#!"):
            complain(path, number, f"a comment of {len(line)} columns; at most {COLUMNS_MAX}")


def check_page(page, text, tree, complain):
    prose = without_blocks(text)
    check_links(page, prose, complain)
    if page.name == "SECURITY.md":
        check_tests(page, prose, complain)
    if page.name != "CHANGELOG.md":
        check_names(page, prose, tree, complain)
        check_columns(page, text, complain)
        check_parts(page, text, complain)


def check_zeros(path, text, complain):
    """Each enum of the protocol says what its 0 means."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if re.search(r"^ +[A-Z_]+ = 0;$", line) and not lines[number - 2].lstrip().startswith("//"):
            complain(path, number, "what this zero means is not said")


def check_tree():
    problems = []

    def complain(path, line, text):
        problems.append(f"{path.relative_to(ROOT)}:{line}: {text}")

    files = list_files()
    tree = Tree(files)
    pages = [path for path in files if path.suffix == ".md"]
    for page in pages:
        check_page(page, read(page), tree, complain)
    for path in files:
        if path.suffix in COMMENTS and "corpus" not in path.parts and "results" not in path.parts:
            check_comments(path, read(path), complain)
        if path.suffix == ".proto":
            check_zeros(path, read(path), complain)
    print("\n".join(problems) if problems else f"pages: {len(pages)} that lead where they say")
    return 1 if problems else 0


def check_self():
    """Each fault is found once, and nothing in what is right."""
    tree = Tree([ROOT / "tests/tidy.py"])
    right = ("# A page\n\nAs [tidy](tidy.py) does, `check_tree()` (`tests/pages.py`, `tidy.py`) reads `check_includes`\n"
             "([it](tidy.py)); [here](#a-page),\n`SCENE.json`, `step`.\n\n```\n[no](link) `none.c`\n```\n\n| " + "wide " * 40 + "|\n")
    wrong = ["[tidy](tidier.py)", "[here](#b-page)", "[there](README.md#no-heading)", "`tests/none.c`", "`none.c`",
             "`no_such_function()`", "`no_such_word` ([it](tidy.py))", "`no_such_word` in [it](tidy.py)",
             "wide " * 24 + "w", "<!-- part of tests/tidy.py -->\n```\nnone\n```",
             "<!-- part of tests/none.py -->\n```\n```"]
    found = []

    def complain(path, line, text):
        found.append((line, text))

    page = ROOT / "tests/sample.md"
    check_page(page, right, tree, complain)
    assert not found, found
    for fault in wrong:
        check_page(page, right + "\n" + fault + "\n", tree, complain)
        assert len(found) == 1 and found[0][0] == right.count("\n") + 2, (fault, found)
        found.clear()
    table = "| tries | test |\n| --- | --- |\n| a | `net/secure`, `run/lanes/queue` |\n"
    check_tests(page, table + "\n| a | other |\n| - | - |\n| b | c |\n", complain)
    assert not found, found
    for fault in ("| b | – |", "| b | `net/secure`, `net/none` |"):
        check_tests(page, table + fault, complain)
        assert len(found) == 1 and found[0][0] == 4, (fault, found)
        found.clear()
    check_columns(ROOT / "README.md", "line\n" * README_LINES_MAX, complain)
    assert not found
    check_columns(ROOT / "README.md", "line\n" * (README_LINES_MAX + 1), complain)
    assert len(found) == 1, found
    found.clear()
    check_zeros(page, "  // none\n  NONE = 0;\n  ONE = 1;\n  NO = 0;  // none\n", complain)
    assert not found
    check_zeros(page, "  enum Kind {\n    NONE = 0;\n", complain)
    assert len(found) == 1, found
    found.clear()
    for suffix, mark in COMMENTS.items():
        check_comments(ROOT / f"a{suffix}", "x" * 200 + "\n" + mark * (COLUMNS_MAX // len(mark)) + "\n", complain)
        assert not found, suffix
        check_comments(ROOT / f"a{suffix}", "  " + mark * (COLUMNS_MAX // len(mark)) + "\n", complain)
        assert len(found) == 1, suffix
        found.clear()


if __name__ == "__main__":
    sys.exit(check_self() if sys.argv[1:] == ["--self"] else check_tree())
