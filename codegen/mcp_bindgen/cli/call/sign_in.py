"""How `call` signs in to a protected server: in a browser, by a pasted address, by kept tokens."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_bindgen.cli.show import safe, warn

if TYPE_CHECKING:
    from mcp_runtime.auth.client.oauth import OAuth

__all__ = ["SigningIn", "authorization", "forget", "open_page", "token_file"]


def token_file() -> Path:
    """The file of the tokens of all servers, which only its owner can read."""
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(home).expanduser() / "mcp-bindgen" / "tokens.json"


@dataclass(frozen=True, slots=True)
class SigningIn:
    """`login`: ask a person if the server demands it. `browser`: open a browser; otherwise show the
    address and read the pasted redirect. `report`: show each step, with secrets masked.
    `any_issuer`: accept metadata naming another issuer. `any_page`: accept a sign-in page in a
    private network.
    """

    login: bool
    browser: bool
    report: bool
    any_issuer: bool
    any_page: bool

    @property
    def is_asked_for(self) -> bool:
        """Return whether any option is about signing in."""
        return self.login or self.report or self.any_issuer or self.any_page


def authorization(how: SigningIn) -> OAuth:
    """Use the tokens of an earlier sign-in, or sign in anew. Messages to the user go to stderr."""
    from mcp_runtime.auth.client.oauth import OAuth
    from mcp_runtime.auth.client.redirect import LoopbackRedirect, PastedRedirect
    from mcp_runtime.auth.client.storage import FileStorage

    def page(url: str, host: str) -> None:
        warn(f"sign in at {safe(host)}")
        if not how.browser or not open_page(url):
            warn(f"open this address in a browser:\n{safe(url)}")

    def read_pasted() -> str:
        warn("paste the address that the browser was sent to, and press Enter:")
        return sys.stdin.readline() if sys.stdin is not None else ""

    redirect = LoopbackRedirect(page) if how.browser else PastedRedirect(page, read_pasted)
    return OAuth(
        client_name="mcp-bindgen",
        redirect=redirect if how.login else None,
        storage=FileStorage(token_file()),
        report=(lambda line: warn(safe(line))) if how.report else None,
        allow_issuer_mismatch=how.any_issuer,
        allow_private_sign_in=how.any_page,
    )


def open_page(url: str) -> bool:
    """Open a browser; return False if none could be opened."""
    from mcp_runtime.auth.client.browser import open_browser

    return open_browser(url)


async def forget(url: str) -> None:
    """Drop the tokens of the server at `url`."""
    from mcp_runtime.auth.client.flows.authorizer import tokens_key
    from mcp_runtime.auth.client.storage import FileStorage

    await FileStorage(token_file()).delete(tokens_key(url))
