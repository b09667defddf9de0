"""Fetches an official schema file: from a local path, from a URL, or from its repository."""

from __future__ import annotations

import os
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Final, Protocol

from mcp_bindgen.errors import InputError
from mcp_bindgen.limits import MAX_SCHEMA_BYTES

__all__ = [
    "DEADLINE",
    "HOST",
    "REPOSITORY",
    "Missing",
    "address",
    "beside",
    "fetch",
    "locate",
    "read",
]

HOST: Final = "https://raw.githubusercontent.com"
REPOSITORY: Final = "modelcontextprotocol/modelcontextprotocol"
DEADLINE: Final = 60.0
"""Time limit of one download, in seconds."""

_SILENCE: Final = 20.0
"""Longest silence of a server, in seconds."""

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def address(path: str, commit: str = "", repository: str = "") -> str:
    """The URL of an official file; without `repository`, in the protocol's own repository."""
    return f"{HOST}/{repository or REPOSITORY}/{commit or 'main'}/{path}"


class Missing(InputError):
    """Nothing is at that path or address. Act: give another."""


class Way(Protocol):
    """The proxy for a URL (or None), and the context for checking certificates.

    Both raise InputError; without a context the certificates of the system are trusted.
    """

    def proxy_for(self, url: str) -> str | None: ...

    def tls(self) -> ssl.SSLContext | None: ...


def fetch(path: str, origin: str, commit: str, repository: str, way: Way) -> bytes:
    """Fetch the official file from a FILE, a DIR, a URL, or its repository. Raises InputError.

    `path` is its path in the repository.
    """
    return read(locate(path, origin, commit, repository), way)


def locate(path: str, origin: str, commit: str, repository: str) -> str:
    """The URL or the path of the file that `fetch` reads. Raises InputError."""
    scheme = _SCHEME.match(origin)
    if not origin or scheme:
        if scheme and scheme[1].lower() not in ("http", "https"):
            raise InputError(
                f"{origin}: addresses begin with http:// or https://, not {scheme[1]}://",
                remedy="Download the file and give its path: --from FILE.",
            )
        return origin or address(path, commit, repository)
    place = Path(origin)
    return str(_inside(place, path) if place.is_dir() else place)


def read(place: str, way: Way) -> bytes:
    """Read a URL or a path. Raises InputError, and Missing if nothing is there."""
    if _SCHEME.match(place):
        return _download(place, way)
    with _open(Path(place)) as file:
        return _read_limited(file, place)


def beside(place: str, name: str) -> str:
    """The URL or the path called `name`, relative to that of a file."""
    if _SCHEME.match(place):
        return urllib.parse.urljoin(place, name)
    return os.path.normpath(Path(place).parent / name)


def _open(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        kind = Missing if isinstance(error, FileNotFoundError) else InputError
        raise kind(
            f"{path}: cannot be read: {error.strerror}",
            remedy="Give a file that exists and that you may read (--from).",
        ) from None


def _inside(folder: Path, path: str) -> Path:
    tried = list(dict.fromkeys([path, path.partition("/")[2] or path, path.rpartition("/")[2]]))
    for name in tried:
        if (folder / name).is_file():
            return folder / name
    raise InputError(
        f"{folder}: has none of {', '.join(tried)}", remedy="Give the file itself (--from FILE)."
    )


def _download(url: str, way: Way) -> bytes:
    """Download a URL. Raises InputError, after DEADLINE seconds at the latest.

    A separate thread downloads, since no socket timeout bounds a server sending a byte a second, a
    slow name server or a proxy. An abandoned thread ends with the process.
    """
    done: Queue[bytes | InputError] = Queue()

    def download() -> None:
        try:
            done.put(_answer(url, way))
        except InputError as error:
            done.put(error)

    Thread(target=download, daemon=True).start()
    try:
        answer = done.get(timeout=DEADLINE)
    except Empty:
        raise InputError(
            f"{url}: not finished after {DEADLINE:.0f} s",
            remedy="Download the file elsewhere and give its path: --from FILE.",
        ) from None
    if isinstance(answer, InputError):
        raise answer
    return answer


def _answer(url: str, way: Way) -> bytes:
    proxy = way.proxy_for(url)
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler({} if proxy is None else {"http": proxy, "https": proxy}),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=way.tls() or _system()),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "mcp-bindgen"})
        answer: IO[bytes] | None = opener.open(request, timeout=_SILENCE)
        if answer is None:  # a redirect to what no handler opens
            raise urllib.error.URLError("the address cannot be opened")
        with answer:
            data = _read_limited(answer, url)
            if lacking := getattr(answer, "length", None):
                raise IncompleteRead(data, lacking)
            return data
    except urllib.error.HTTPError as error:
        error.close()
        reason, remedy = f"the server answers {error.code}", "Check the revision or the address."
        if error.code in (404, 410):
            raise Missing(f"{url}: cannot be fetched: {reason}", remedy=remedy) from None
    except (OSError, HTTPException, ValueError) as error:
        reason = str(getattr(error, "reason", "")) or str(error) or type(error).__name__
        remedy = "Check the network, or download the file elsewhere and give its path: --from FILE."
    raise InputError(f"{url}: cannot be fetched: {reason}", remedy=remedy)


def _system() -> ssl.SSLContext:
    """Trusts the certificates of the system, whatever the environment says."""
    context, paths = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), ssl.get_default_verify_paths()
    file = paths.openssl_cafile if Path(paths.openssl_cafile).is_file() else None
    folder = paths.openssl_capath if Path(paths.openssl_capath).is_dir() else None
    if file or folder:
        context.load_verify_locations(file, folder)
    else:
        context.load_default_certs()
    return context


def _read_limited(file: IO[bytes], name: str) -> bytes:
    """All of `file`; refused when it is too large."""
    data = file.read(MAX_SCHEMA_BYTES + 1)
    if len(data) > MAX_SCHEMA_BYTES:
        raise InputError(
            f"{name}: more than {MAX_SCHEMA_BYTES} bytes",
            remedy="A schema of that size is a mistake; look at the file.",
        )
    return data
