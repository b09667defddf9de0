"""The command reaches URLs as its options and the environment say, and the loopback directly."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from mcp_bindgen import download
from mcp_bindgen.cli.options import Network
from mcp_bindgen.errors import InputError
from mcp_runtime.client.http.environment import proxy_for, require_proxy, trusted
from tests.support.command import invoke

PEM = Path(__file__).parents[1] / "runtime/client/http/self_signed.pem"
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


@pytest.fixture(autouse=True)
def _nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


# ---- what the environment says


@pytest.mark.parametrize(
    ("variable", "url", "is_used"),
    [
        ("HTTP_PROXY", "http://a.example/mcp", True),
        ("http_proxy", "http://a.example/mcp", True),
        ("HTTP_PROXY", "https://a.example/mcp", False),
        ("HTTPS_PROXY", "https://a.example/mcp", True),
        ("HTTPS_PROXY", "http://a.example/mcp", False),
        ("ALL_PROXY", "http://a.example/mcp", True),
        ("all_proxy", "https://a.example/mcp", True),
        *(
            ("ALL_PROXY", f"http://{host}/mcp", False)
            for host in (
                "localhost",
                "LOCALHOST:8000",
                "127.0.0.1",
                "127.9.9.9:1",
                "[::1]:8000",
                "app.localhost",
                "localhost.",
                "[::ffff:127.0.0.1]",
            )
        ),
    ],
)
def test_a_proxy_of_the_environment_is_for_its_scheme_and_not_for_the_loopback(
    monkeypatch: pytest.MonkeyPatch, variable: str, url: str, is_used: bool
) -> None:
    monkeypatch.setenv(variable, "http://proxy.example:3128")
    assert proxy_for(url) == ("http://proxy.example:3128" if is_used else None)


@pytest.mark.parametrize(
    ("excepted", "url", "is_used"),
    [
        ("a.example", "http://a.example/", False),
        ("A.Example", "http://a.example/", False),
        (".example", "http://a.example/", False),
        ("*.example", "http://b.a.example/", False),
        ("example", "http://notexample/", True),
        ("*", "http://a.example/", False),
        ("x, a.example ,y", "http://a.example/", False),
        ("a.example:8080", "http://a.example:8080/", False),
        ("a.example:8080", "http://a.example/", True),
        ("a.example:80", "http://a.example/", False),
        ("10.0.0.0/8", "http://10.1.2.3/", False),
        ("10.0.0.0/8", "http://11.1.2.3/", True),
        ("192.168.0.1", "http://192.168.0.1/", False),
        ("fd00::/8", "http://[fd00::1]/", False),
        ("[fd00::1]", "http://[fd00::1]:8/", False),
        ("", "http://a.example/", True),
        (",,", "http://a.example/", True),
    ],
)
def test_no_proxy_names_hosts_ends_of_names_and_networks(
    monkeypatch: pytest.MonkeyPatch, excepted: str, url: str, is_used: bool
) -> None:
    monkeypatch.setenv("ALL_PROXY", "proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", excepted)
    assert proxy_for(url) == ("http://proxy.example:3128" if is_used else None)


def test_a_request_that_a_web_server_runs_cannot_name_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A header `Proxy` is HTTP_PROXY to a CGI program."""
    monkeypatch.setenv("REQUEST_METHOD", "GET")
    monkeypatch.setenv("HTTP_PROXY", "http://evil.example")
    assert proxy_for("http://a.example/") is None


@pytest.mark.parametrize("proxy", ["", "ftp://a:1", "http://", "http://a:99999", "x://u:secret@h"])
def test_what_is_no_proxy_is_refused_without_its_password(proxy: str) -> None:
    with pytest.raises(ValueError, match="--proxy is not the URL of a proxy") as caught:
        require_proxy(proxy, "--proxy")
    assert "secret" not in str(caught.value)


def test_certificates_of_the_environment_are_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert trusted() is None
    monkeypatch.setenv("SSL_CERT_FILE", str(PEM))
    context = trusted()
    assert context is not None
    assert len(context.get_ca_certs()) == 1
    assert Network(ignores_environment=True).tls() is None
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")
    with pytest.raises(InputError, match="SSL_CERT_FILE"):
        Network().tls()
    monkeypatch.delenv("SSL_CERT_FILE")
    monkeypatch.setenv("SSL_CERT_DIR", str(PEM.parent))
    assert trusted() is not None


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_file_without_certificates_is_named(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "ca.pem"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=r"ca\.pem"):
        Network(cacert=str(file)).tls()


# ---- verbs


class Proxy:
    """Answers each request for itself, and keeps what was asked."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.tls: ssl.SSLContext | None = None
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            with suppress(OSError), connection:
                self.answered(connection)

    def answered(self, connection: socket.socket) -> None:
        if self.tls is not None:
            with self.tls.wrap_socket(connection, server_side=True) as secured:
                self.answer_on(secured)
        else:
            self.answer_on(connection)

    def answer_on(self, connection: socket.socket) -> None:
        head = connection.recv(65_536).decode("latin-1")
        self.asked.append(head.partition("\r\n")[0])
        length = f"Content-Length: {len(self.answer)}\r\nConnection: close\r\n\r\n"
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + length.encode() + self.answer)


@contextmanager
def proxy(answer: bytes = b"{}") -> Iterator[Proxy]:
    one = Proxy(answer)
    thread = threading.Thread(target=one.serve, daemon=True)
    thread.start()
    try:
        yield one
    finally:
        one.listening.shutdown(socket.SHUT_RDWR)
        one.listening.close()
        thread.join(60)


def called(*words: str) -> tuple[int, str]:
    """The exit status of a verb in this process, and what it wrote to standard error."""
    result = invoke(*words)
    return result.exit_code, result.stderr


URL = "http://server.example/mcp"
VERBS = {
    "call": ("call", "--timeout", "5", URL, "tool"),
    "new": ("new", "x", "--dry-run", "--yes", "--from-tools", URL),
    "pull": ("pull", "2025-11-25", "--from", URL, "--into", "schema"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("is_said", ["option", "environment"])
def test_a_verb_asks_by_the_proxy(
    verb: str, is_said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with proxy() as one:
        first, *rest = VERBS[verb]
        if is_said == "option":
            rest = ["--proxy", one.url, *rest]
        else:
            monkeypatch.setenv("HTTP_PROXY", one.url)
        called(first, *rest)
        assert one.asked
        assert all(f" {URL} " in line or "server.example" in line for line in one.asked)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_can_ignore_the_environment(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with proxy() as one:
        monkeypatch.setenv("ALL_PROXY", one.url)
        first, *rest = VERBS[verb]
        done = called(first, "--ignore-environment", *rest)
        assert done[0] == 2
        assert one.asked == []


@pytest.mark.parametrize("verb", VERBS)
def test_the_loopback_is_asked_directly(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with proxy() as one, proxy() as server:
        monkeypatch.setenv("ALL_PROXY", one.url)
        first, *rest = VERBS[verb]
        called(first, *(word.replace(URL, f"{server.url}/mcp") for word in rest))
        assert one.asked == []
        assert server.asked


@pytest.mark.parametrize(
    "option", [("--proxy", "http://p:1"), ("--cacert", "x"), ("--ignore-environment",)]
)
def test_a_command_has_no_network_of_ours(option: tuple[str, ...]) -> None:
    status, stderr = called("call", *option, "--", "server", "tool")
    assert status == 2
    assert "URL" in stderr


def test_certificates_that_are_given_are_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(PEM)
    with proxy(b"interface A {}") as one:
        one.tls = tls
        url = one.url.replace("http://", "https://") + "/schema.ts"
        with pytest.raises(InputError, match=r"(?i)certificate"):
            download.fetch("schema.ts", url, "", "", Network())
        given = Network(cacert=str(PEM))
        assert download.fetch("schema.ts", url, "", "", given) == b"interface A {}"
        monkeypatch.setenv("SSL_CERT_FILE", str(PEM))
        assert download.fetch("schema.ts", url, "", "", Network()) == b"interface A {}"
        with pytest.raises(InputError, match=r"(?i)certificate"):
            download.fetch("schema.ts", url, "", "", Network(ignores_environment=True))
