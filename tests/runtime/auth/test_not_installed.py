"""Without the extra, what is missing is named with the command that installs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

HIDE = """
import sys
sys.modules[{library!r}] = None
from mcp_runtime.errors import NotInstalled
try:
    {code}
except NotInstalled as error:
    sys.exit(str(error))
"""
VERIFIER = "import mcp_runtime.auth.server.jwt_verifier"


@pytest.mark.parametrize(
    ("library", "code"),
    [
        ("jwt", VERIFIER),
        ("cryptography", VERIFIER),
        ("jwt", "import mcp_runtime.auth.server.proof"),
        ("httpx2", "import mcp_runtime.auth.fetch"),
        (
            "cryptography",
            "from mcp_runtime.auth.client.flows.dpop import DpopKey; DpopKey(now=float, draw=str)",
        ),
    ],
)
def test_a_missing_library_is_named_with_the_extra_that_has_it(library: str, code: str) -> None:
    command = [sys.executable, "-c", HIDE.format(library=library, code=code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stderr.strip().endswith("pip install 'mcp-bindgen-runtime[auth]'"), done.stderr


def test_a_server_and_a_client_without_tokens_of_that_kind_need_nothing() -> None:
    code = "; ".join(
        [
            "import sys",
            "sys.modules.update(dict.fromkeys(('jwt', 'cryptography', 'httpx2')))",
            "import mcp_runtime.auth.server.bearer, mcp_runtime.auth.server.introspection",
            "from mcp_runtime.auth.client.oauth import OAuth",
            "OAuth()",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
