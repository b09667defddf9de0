"""Options and arguments shared by several verbs."""

from __future__ import annotations

import os
import re
import ssl
import stat
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from errno import EBADF
from functools import wraps
from pathlib import Path
from typing import IO, Any, Final

import click

from mcp_bindgen.errors import InputError, OutputError

__all__ = [
    "FOLDER",
    "STDIN",
    "Network",
    "Seconds",
    "imports_option",
    "network_options",
    "open_input",
    "open_trace",
    "parse_header",
]

STDIN: Final = "-"
"""Stands for standard input in place of a file."""
_HEADER: Final = re.compile(r"(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(?P<value>[\t\x20-\x7e]*)")


class Seconds(click.FloatRange):
    """A number of seconds."""

    name = "number of seconds"


class _Folder(click.Path):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if ".." not in path.parts or path.exists():
            return path
        real = os.path.realpath(path)
        return Path(real if path.is_absolute() else os.path.relpath(real))


FOLDER: Final = _Folder(path_type=Path)
"""A folder to write into, which need not exist: in `new/../x` neither `new` nor `x`."""

imports_option = click.option(
    "--import",
    "imports",
    multiple=True,
    metavar="SPECIFIER=FILE|REVISION",
    help=(
        "Resolve a schema's imports from SPECIFIER to this file or revision; repeatable "
        "(default: as schema/PINS.toml says)."
    ),
)


@dataclass(frozen=True, slots=True)
class Network:
    """The connection to a server on the network: its proxy, and the trusted certificates.

    Values left out come from the environment, unless `ignores_environment`.
    """

    proxy: str | None = None
    cacert: str | None = None
    ignores_environment: bool = False

    @property
    def is_asked_for(self) -> bool:
        return self != Network()

    def tls(self) -> ssl.SSLContext | None:
        """The context for checking certificates; None means the system's. Raises InputError."""
        from mcp_runtime.client.http.environment import trusted

        if self.cacert is None:
            try:
                return None if self.ignores_environment else trusted()
            except ValueError as error:
                raise InputError(str(error), remedy="Name them by --cacert FILE.") from None
        try:
            return ssl.create_default_context(cafile=self.cacert)
        except (OSError, ssl.SSLError) as error:
            why = "is there, and holds no certificate in PEM"
            why = why if isinstance(error, ssl.SSLError) else f"cannot be read: {error.strerror}"
            raise InputError(f"{self.cacert}: {why}", remedy="Give a PEM file.") from None

    def proxy_for(self, url: str) -> str | None:
        """The proxy by which a URL is asked. Raises InputError."""
        from mcp_runtime.client.http.environment import proxy_for, require_proxy

        try:
            if self.proxy is not None:
                return require_proxy(self.proxy, "--proxy")
            return None if self.ignores_environment else proxy_for(url)
        except ValueError as error:
            raise InputError(str(error), remedy="For instance: http://127.0.0.1:3128") from None

    def of_client(self, url: str) -> dict[str, Any]:
        """The options for an HTTP client that asks this URL. Raises InputError."""
        self.proxy_for(url)
        return {
            "proxy": self.proxy,
            "tls": self.tls(),
            "trust_env": not self.ignores_environment,
        }


def network_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add `--proxy`, `--cacert` and `--ignore-environment`, which the verb gets as `network`."""

    @wraps(command)
    def with_network(
        *args: Any, proxy: str | None, cacert: str | None, ignore_environment: bool, **given: Any
    ) -> int:
        network = Network(proxy, cacert, ignore_environment)
        return command(*args, network=network, **given)

    for option in _NETWORK:
        with_network = option(with_network)
    return with_network


_NETWORK: Final = (
    click.option(
        "--ignore-environment",
        is_flag=True,
        help="Take no proxy and no certificates from the environment (HTTP_PROXY, HTTPS_PROXY, "
        "ALL_PROXY, NO_PROXY, SSL_CERT_FILE, SSL_CERT_DIR).",
    ),
    click.option(
        "--cacert",
        metavar="FILE",
        help=(
            "Trust only the CA certificates in this PEM file (default: SSL_CERT_FILE, else "
            "the system's)."
        ),
    ),
    click.option(
        "--proxy",
        metavar="URL",
        help=(
            "Reach URLs through this proxy, such as http://proxy:3128 (default: HTTPS_PROXY "
            "and its like; none for the loopback)."
        ),
    ),
)


def open_input(file: str) -> AbstractContextManager[IO[bytes]]:
    """Open a file or standard input for reading. Raises OSError, also if the input is closed."""
    if file == STDIN and sys.stdin is None:
        raise OSError(EBADF, "standard input is closed", STDIN)
    return click.open_file(file, "rb")


def open_trace(file: str) -> IO[bytes]:
    """Open a new trace, readable only by its owner, since it contains every message.

    Raises OutputError if the file has other contents, such as a server.
    """
    if Path(file).is_file():
        with open(file, "rb") as there:
            if there.read(len(_TRACE)) not in (b"", _TRACE):
                message = f"{file}: holds something other than a trace"
                raise OutputError(message, remedy="Give --trace another file.")
    return open(file, "wb", opener=_private)


def _private(file: str, flags: int) -> int:
    """Open a file with mode 0600; an existing file gets this mode before it is written."""
    descriptor = os.open(file, flags, 0o600)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and hasattr(os, "fchmod"):
            os.fchmod(descriptor, 0o600)
    except PermissionError:  # somebody else's, which we may write all the same
        pass
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


_TRACE: Final = b'{"at"'
"""How a trace begins."""


def parse_header(text: str) -> tuple[str, str]:
    """Return the name and the value of an HTTP header. Raise InputError, without the value, which
    may be secret.
    """
    match = _HEADER.fullmatch(text)
    if match is None:
        remedy = "For instance: --header 'Authorization: Bearer …'."
        raise InputError("a header is a name, a colon and a value", remedy=remedy)
    return match["name"], match["value"]
