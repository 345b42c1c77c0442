# SPDX-License-Identifier: MIT
"""Where a server's pages are."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request

from .client import Client
from ._connection import SCHEME
from .errors import MoreauError

HTTPS = "https://"


# An address that a server listens on, as a browser on this machine reaches it: one that means all interfaces is no
# place to go to.
def reachable(http: str, server: str) -> str:
    scheme = HTTPS if http.startswith(HTTPS) else ""
    host, _, port = http.removeprefix(HTTPS).rpartition(":")
    if host in ("0.0.0.0", "[::]"):
        host = "127.0.0.1" if server.startswith("unix:") else server.removeprefix(SCHEME).rpartition(":")[0]
    return f"{scheme}{host}:{port}"


def page_address(where: str) -> str:
    """Of HOST:PORT, which stands behind https:// where the pages are under TLS."""
    return f"{where}/" if where.startswith(HTTPS) else f"http://{where}/"


def live_address(where: str, what: str) -> str:
    """The page on what runs there, as "world=7"."""
    secure = "s" if where.startswith(HTTPS) else ""
    return f"{page_address(where)}#live=ws{secure}://{where.removeprefix(HTTPS)}/v1/live&{what}"


def _unverified() -> ssl.SSLContext:
    """Only whether there is a page is asked: whom to trust is the browser's to judge."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def has_page(http: str) -> bool:
    try:
        request = urllib.request.Request(page_address(http), method="HEAD")
        with urllib.request.urlopen(request, timeout=10.0, context=_unverified()):
            return True
    except urllib.error.HTTPError:
        return False
    except (OSError, ValueError) as error:
        raise MoreauError(f"Nothing answers at {page_address(http)}: {error}.") from error


def page_of(client: Client) -> str | None:
    """HOST:PORT of the viewer's page of a client's server, behind https:// or not; None: it shows none."""
    listens = client.welcome.http
    if not listens:
        return None
    where = reachable(listens, client.address)
    try:
        return where if has_page(where) else None
    except MoreauError:
        return None
