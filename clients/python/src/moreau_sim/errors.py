# SPDX-License-Identifier: MIT
"""What can go wrong: one exception for each status of the protocol, three for the way there, and one for who may
go it."""

from __future__ import annotations

from .protocol import Status


class MoreauError(Exception):
    """Whatever goes wrong between this client and its server."""


class ConnectionLost(MoreauError):
    """No server, or none any more: where, and why."""


class Untrusted(MoreauError):
    """A server at tls:// is not whom it should be, or we are not to it. Nothing was said to it, no token either."""


class ProtocolError(MoreauError):
    """The other side does not speak the protocol, or not this one."""


class InUse(MoreauError, RuntimeError):
    """Something that belongs to one process, and to one thread at a time, is used by another: by a fork, or while a
    thread is in a call of it. Nothing was sent, and the other goes on undisturbed."""


class ServerError(MoreauError):
    """The server said no. `code` is the status, `field` the path of what was wrong inside of the
    call, `recoverable` whether the same call may succeed later."""

    code = Status.Code.UNKNOWN

    def __init__(self, status: Status) -> None:
        self.status = status
        self.message = status.message or ""
        self.field = status.field or ""
        self.world = status.world
        self.step = status.step
        self.recoverable = bool(status.recoverable)
        self.result: object = None  # what was done before it failed, where the call says so
        super().__init__(f"{self.field}: {self.message}" if self.field else self.message)


class Cancelled(ServerError):
    code = Status.Code.CANCELLED


class Unknown(ServerError):
    code = Status.Code.UNKNOWN


class InvalidArgument(ServerError):
    code = Status.Code.INVALID_ARGUMENT


class DeadlineExceeded(ServerError):
    code = Status.Code.DEADLINE_EXCEEDED


class NotFound(ServerError):
    code = Status.Code.NOT_FOUND


class AlreadyExists(ServerError):
    code = Status.Code.ALREADY_EXISTS


class PermissionDenied(ServerError):
    code = Status.Code.PERMISSION_DENIED


class ResourceExhausted(ServerError):
    code = Status.Code.RESOURCE_EXHAUSTED


class FailedPrecondition(ServerError):
    code = Status.Code.FAILED_PRECONDITION


class Aborted(ServerError):
    code = Status.Code.ABORTED


class OutOfRange(ServerError):
    code = Status.Code.OUT_OF_RANGE


class Unimplemented(ServerError):
    code = Status.Code.UNIMPLEMENTED


class Internal(ServerError):
    code = Status.Code.INTERNAL


class Unavailable(ServerError):
    code = Status.Code.UNAVAILABLE


class DataLoss(ServerError):
    code = Status.Code.DATA_LOSS


class Unauthenticated(ServerError):
    code = Status.Code.UNAUTHENTICATED


_BY_CODE = {error.code: error for error in ServerError.__subclasses__()}


def of_status(status: Status) -> ServerError:
    """The exception that a status is."""
    return _BY_CODE.get(Status.Code(status.code or 0), Unknown)(status)
