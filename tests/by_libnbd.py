"""A client that checks nothing itself, by libnbd: what programs share that run with the Python of the system."""

import errno
from collections.abc import Callable

import nbd


def connected(uri: str, structured: bool = True) -> nbd.NBD:
    """A session with both contexts."""
    h = nbd.NBD()
    h.set_request_structured_replies(structured)
    h.add_meta_context("base:allocation")
    h.add_meta_context("x-outlast:health")
    h.set_strict_mode(0)
    h.connect_uri(uri)
    return h


def fails(code: int, what: Callable[[], object]) -> None:
    """`what` ends in `code`, and the session goes on."""
    try:
        what()
    except nbd.Error as error:
        assert error.errnum == code, f"{errno.errorcode[code]} was due: {error}"
    else:
        raise AssertionError(f"{errno.errorcode[code]} was due")
