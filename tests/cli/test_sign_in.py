"""`call` signs in to a protected server, remembers it, and forgets it when told."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.auth.test_protected_server import Issuer, serving

ADDRESS = re.compile(r"in a browser:\n(http://\S+)\n")


def call(home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "mcp_bindgen", "call", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_CONFIG_HOME": str(home)},
    )


def signed_in(home: Path, issuer: Issuer, *more: str) -> tuple[int, str, str]:
    """Calls a tool with --login, and does what the person does."""
    with call(home, issuer.world.resource, "whoami", "--login", "--no-browser", *more) as process:
        assert process.stderr is not None
        shown = ""
        while (address := ADDRESS.search(shown)) is None:
            line = process.stderr.readline()
            assert line, shown
            shown += line
        stdout, rest = process.communicate(issuer.world.visit(address[1]) + "\n", timeout=60)
        return process.returncode, stdout, shown + rest


def said(home: Path, *arguments: str) -> tuple[int, str, str]:
    with call(home, *arguments) as process:
        stdout, stderr = process.communicate(timeout=60)
        return process.returncode, stdout, stderr


def beside_a_server(act: Callable[[Issuer], Any]) -> None:
    async def main() -> None:
        async with serving() as issuer:
            await asyncio.to_thread(act, issuer)

    asyncio.run(main())


@pytest.mark.wide
def test_a_person_signs_in_once_and_is_remembered_until_the_logout(tmp_path: Path) -> None:
    def act(issuer: Issuer) -> None:
        url = issuer.world.resource
        status, _, stderr = said(tmp_path, url, "whoami")
        assert status == 2
        assert "demands a token" in stderr
        assert "--login" in stderr
        assert "--header 'Authorization: Bearer" in stderr
        status, stdout, stderr = signed_in(tmp_path, issuer)
        assert (status, stdout) == (0, "ann read\n")
        assert "sign in at 127.0.0.1" in stderr
        assert said(tmp_path, url, "whoami")[:2] == (0, "ann read\n")
        assert said(tmp_path, url, "--logout")[0] == 0
        assert said(tmp_path, url, "whoami")[0] == 2

    beside_a_server(act)


def test_a_file_that_holds_no_tokens_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mcp-bindgen" / "tokens.json"
    file.parent.mkdir()
    file.write_text("nonsense")

    def act(issuer: Issuer) -> None:
        for arguments in (("--logout",), ("whoami",)):
            status, _, stderr = said(tmp_path, issuer.world.resource, *arguments)
            assert status == 2
            assert f"{file} is not a token file; move it away" in stderr
            assert "Traceback" not in stderr

    beside_a_server(act)


def test_each_step_can_be_shown_without_its_secrets(tmp_path: Path) -> None:
    def act(issuer: Issuer) -> None:
        _, _, stderr = signed_in(tmp_path, issuer, "--auth-trace")
        assert "exchanges the code for tokens" in stderr
        secrets = [*issuer.world.valid, *issuer.world.refresh_tokens]
        secrets += [fields["code"] for fields in issuer.world.token_fields]
        assert [secret for secret in secrets if secret in stderr] == []

    beside_a_server(act)


@pytest.mark.wide
def test_another_issuer_is_refused_with_the_option_that_accepts_it(tmp_path: Path) -> None:
    def act(issuer: Issuer) -> None:
        world = issuer.world
        world.iss = world.metadata["issuer"] = f"{world.issuer}//"
        status, _, stderr = said(tmp_path, world.resource, "whoami", "--login", "--no-browser")
        assert status == 2
        assert "in the slash at the end alone" in stderr
        assert "--allow-issuer-mismatch accepts it" in stderr
        assert signed_in(tmp_path, issuer, "--allow-issuer-mismatch")[:2] == (0, "ann read\n")

    beside_a_server(act)


@pytest.mark.parametrize(
    "option",
    ["--login", "--logout", "--auth-trace", "--allow-issuer-mismatch", "--allow-private-sign-in"],
)
def test_a_command_is_not_signed_in_to(tmp_path: Path, option: str) -> None:
    status, _, stderr = said(tmp_path, option, "--", sys.executable, "-c", "pass", "tool")
    assert status == 2
    assert "URL" in stderr
