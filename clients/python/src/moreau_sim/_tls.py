# SPDX-License-Identifier: MIT
"""TLS to a server, by the standard library: 1.3 alone. Whom the server must be is settled before the first byte of ours
goes out, so that no token reaches anybody else."""

from __future__ import annotations

import hashlib
import pathlib
import re
import socket
import ssl
from typing import TYPE_CHECKING, Any

from .errors import ConnectionLost, Untrusted

if TYPE_CHECKING:
    from ._connection import Trust

# where systems keep the roots of all, beside where this Python's OpenSSL looks: some bring their own along
ROOTS = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)

# what X.509 says by number (x509_vfy.h)
VERDICTS = {
    9: "does not hold yet, by this machine's clock",
    10: "has expired, by this machine's clock",
    18: "is signed by nobody but itself: trust it by its file (tls_ca) or its fingerprint (tls_fingerprint)",
    19: "is signed by an authority that this machine does not know: give that one's certificate (tls_ca)",
    20: "leads to no authority that this machine knows: give that one's certificate (tls_ca), or have the server send "
    "those in between",
    62: "is for another name: connect by one of its own",
    64: "is for another address: connect by one of its own",
}
VERDICTS[21] = VERDICTS[20]
OWN_REFUSED = {
    "UNKNOWN_CA",
    "BAD_CERTIFICATE",
    "CERTIFICATE_EXPIRED",
    "CERTIFICATE_UNKNOWN",
    "UNSUPPORTED_CERTIFICATE",
}


def _digest(fingerprint: str) -> bytes:
    digits = fingerprint.removeprefix("sha256:").replace(":", "")
    if not re.fullmatch("[0-9a-fA-F]{64}", digits):
        raise ValueError(f"{fingerprint!r} is no fingerprint: write sha256: and 64 digits, as the server says")
    return bytes.fromhex(digits)


def _context(trust: Trust) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    if trust.ca is not None:
        context.load_verify_locations(cafile=trust.ca)
        # what is in the file is trusted as it stands, also where another has signed it
        context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    elif trust.fingerprint is not None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    else:
        context.load_default_certs()
        if not pathlib.Path(ssl.get_default_verify_paths().cafile or "/none").exists():
            roots = next((file for file in ROOTS if pathlib.Path(file).exists()), None)
            if roots is not None:
                context.load_verify_locations(cafile=roots)
    if trust.cert is not None:
        context.load_cert_chain(trust.cert, trust.key, password="")
    return context


def sentence(address: str, error: ssl.SSLError) -> ConnectionLost | Untrusted:
    """What went wrong, for people."""
    reason = error.reason or str(error)
    alert = reason.rpartition("_ALERT_")[2]
    if isinstance(error, ssl.SSLCertVerificationError):
        verdict = VERDICTS.get(error.verify_code, f"does not hold: {error.verify_message}")
        return Untrusted(f"the certificate of {address} {verdict}")
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return ConnectionLost(f"the server at {address} speaks no TLS: it was started without --tls-cert")
    if alert == "CERTIFICATE_REQUIRED":
        return Untrusted(f"the server at {address} wants a certificate of its clients: give one (tls_cert, tls_key)")
    if alert in OWN_REFUSED:
        said = alert.lower().replace("_", " ")
        return Untrusted(f"the server at {address} does not accept our certificate: {said}")
    if alert == "PROTOCOL_VERSION":
        return ConnectionLost(f"the server at {address} does not speak TLS 1.3, which is all that this client does")
    if alert == "INTERNAL_ERROR":
        return ConnectionLost(f"the server at {address} has no room for another connection")
    return ConnectionLost(f"TLS with {address} failed: {reason}")


class Secure:
    """A socket under TLS that is used as a plain one is: with MSG_DONTWAIT it does not wait."""

    def __init__(self, plain: socket.socket, address: str, host: str, trust: Trust, timeout_s: float | None) -> None:
        self._address = address
        self._timeout_s = timeout_s
        wanted = _digest(trust.fingerprint) if trust.fingerprint is not None else None
        context = _context(trust)
        try:
            self._socket = context.wrap_socket(plain, server_hostname=host)
        except ssl.SSLError as error:
            raise sentence(address, error) from None
        found = hashlib.sha256(self._socket.getpeercert(binary_form=True) or b"").digest()
        if wanted is not None and found != wanted:
            self._socket.close()
            raise Untrusted(
                f"the certificate of {address} is another one than is trusted: its fingerprint is sha256:{found.hex()}"
            )

    def _do(self, flags: int, what: Any, *arguments: Any) -> int:
        if flags:
            self._socket.setblocking(False)
        try:
            return int(what(*arguments))
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise BlockingIOError from None
        except ssl.SSLEOFError:
            return 0
        except ssl.SSLError as error:
            raise sentence(self._address, error) from None
        finally:
            if flags:
                self._socket.settimeout(self._timeout_s)

    def send(self, part: bytes | memoryview, flags: int = 0) -> int:
        return self._do(flags, self._socket.send, part)

    def recv_into(self, view: memoryview, count: int = 0, flags: int = 0) -> int:
        return self._do(flags, self._socket.recv_into, view, count)

    def pending(self) -> int:
        """Bytes that were read from the system already."""
        return self._socket.pending()

    def fileno(self) -> int:
        return self._socket.fileno()

    def setblocking(self, waits: bool) -> None:
        self._socket.setblocking(waits)

    def settimeout(self, timeout_s: float | None) -> None:
        self._socket.settimeout(timeout_s)

    def close(self) -> None:
        self._socket.close()
