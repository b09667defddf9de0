"""Opens a person's browser at a sign-in page: without a shell, and only https or the loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Final

from mcp_runtime.auth.addresses import require_secure

_OPENERS: Final = {"darwin": "open", "linux": "xdg-open"}


def browser_command(url: str) -> list[str] | None:
    """Return the program and the arguments to open a URL; None if no such program exists.

    Raises DiscoveryFailed for a URL other than https, or http on the loopback.
    """
    require_secure(url, "the sign-in page")
    program = shutil.which(_OPENERS.get(sys.platform, ""))
    return None if program is None else [program, url]


def open_browser(url: str) -> bool:
    """Return True if a browser was started. The URL is an argument of its own: no shell reads it.

    Raises DiscoveryFailed as `browser_command` does.
    """
    if sys.platform == "win32":
        require_secure(url, "the sign-in page")
        os.startfile(url)
        return True
    command = browser_command(url)
    if command is None:
        return False
    subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return True
