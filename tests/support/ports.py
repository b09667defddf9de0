"""Ports for programs that are told one: free, and nobody else's until the program has ended."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.patience import eventually

__all__ = ["keep_port", "kept_port", "until_listening"]


def keep_port() -> tuple[socket.socket, int]:
    """A port of the loopback interface, which is ours until the socket is closed.

    The socket is bound and does not listen: the system gives the port to nobody else, while a
    program that sets SO_REUSEADDR, as every server does, can listen there.
    """
    place = socket.socket()
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    place.bind(("127.0.0.1", 0))
    return place, place.getsockname()[1]


@contextmanager
def kept_port() -> Iterator[int]:
    """The same, for as long as it is entered."""
    place, port = keep_port()
    with place:
        yield port


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def until_listening(port: int) -> None:
    """Block until a program listens there."""
    eventually(lambda: _listens(port))
