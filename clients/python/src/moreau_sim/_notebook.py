# SPDX-License-Identifier: MIT
"""What a notebook shows of things: tables, and the viewer's page in a frame."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

HEIGHT = 480  # pixels of a frame
ROWS_MAX = 12  # of a table that stands for many


def facts(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    """What is known of one thing. All text is escaped: names come from other people."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<b>{html.escape(title)}</b><table>{cells}</table>"


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], total: int) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    more = f"<caption>{len(rows)} of {total}</caption>" if len(rows) < total else ""
    return f"<table>{more}<tr>{head}</tr>{body}</table>"


def frame(address: str) -> str:
    """A page in a frame."""
    return f"<iframe src='{html.escape(address, quote=True)}' width='100%' height='{HEIGHT}' style='border:0'></iframe>"


def frame_of(page: str) -> str:
    """Likewise, of its text."""
    return f"<iframe srcdoc='{html.escape(page, quote=True)}' width='100%' height='{HEIGHT}' style='border:0'></iframe>"


def text_table(columns: Sequence[str], rows: Sequence[Sequence[str]], total: int) -> str:
    """For a terminal: columns to the right, and how many are not shown."""
    widths = [
        max(len(columns[i]), *(len(row[i]) for row in rows)) if rows else len(columns[i]) for i in range(len(columns))
    ]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in (columns, *rows)]
    return "\n".join([*lines, *([f"… {total - len(rows)} more"] if len(rows) < total else [])])
