# SPDX-License-Identifier: MIT
"""Where a server's pages are."""

from __future__ import annotations

import urllib.error
import urllib.request

from .client import Client
from .errors import MoreauError


# An address that a server listens on, as a browser on this machine reaches it: one that means all interfaces is no
# place to go to.
def reachable(http: str, server: str) -> str:
    host, _, port = http.rpartition(":")
    if host in ("0.0.0.0", "[::]"):
        host = "127.0.0.1" if server.startswith("unix:") else server.rpartition(":")[0]
    return f"{host}:{port}"


def has_page(http: str) -> bool:
    try:
        with urllib.request.urlopen(urllib.request.Request(f"http://{http}/", method="HEAD"), timeout=10.0):
            return True
    except urllib.error.HTTPError:
        return False
    except (OSError, ValueError) as error:
        raise MoreauError(f"Nothing answers at http://{http}/: {error}.") from error


def page_of(client: Client) -> str | None:
    """HOST:PORT of the viewer's page of a client's server; None: it shows none."""
    listens = client.welcome.http
    if not listens:
        return None
    where = reachable(listens, client.address)
    try:
        return where if has_page(where) else None
    except MoreauError:
        return None
