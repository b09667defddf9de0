"""Adds a server to the text of a host's settings, or removes it; the rest of the text stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_bindgen.errors import InputError
from mcp_bindgen.hosts import jsonc
from mcp_bindgen.hosts.table import Host

__all__ = ["servers", "with_server", "without_server"]


def servers(host: Host, text: str) -> dict[str, Any]:
    """The servers in a settings file by name. Raises InputError for a file that is not readable."""
    settings = _loads(host, text)
    known: Any = settings.get(host.servers, {}) if settings.__class__ is dict else None
    if known.__class__ is not dict:
        raise InputError(f"{host.servers} is not an object", remedy="Correct the settings by hand.")
    return dict(known)


def with_server(host: Host, text: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text with the server `name`. Comments and all other members stay."""
    expected = {**servers(host, text), name: dict(entry)}
    if host.form == "json":
        new = jsonc.with_member(text, (host.servers, name), dict(entry))
    else:
        toml = _tomlkit()
        document = toml.parse(text)
        if host.servers not in document:
            document[host.servers] = toml.table(is_super_table=True)
        document[host.servers][name] = dict(entry)
        new = toml.dumps(document)
    return _require_rest(host, text, new, expected)


def without_server(host: Host, text: str, name: str) -> str:
    """Return the text without the server `name`. Raises KeyError if there is none."""
    expected = servers(host, text)
    del expected[name]
    if host.form == "json":
        new = jsonc.without_member(text, (host.servers, name))
    else:
        toml = _tomlkit()
        document = toml.parse(text)
        del document[host.servers][name]
        new = toml.dumps(document)
    return _require_rest(host, text, new, expected)


def _tomlkit() -> Any:
    try:
        import tomlkit
    except ImportError:
        raise InputError(
            "changing TOML needs tomlkit", remedy="pip install 'mcp-bindgen[hosts]'"
        ) from None
    return tomlkit


def _loads(host: Host, text: str) -> Any:
    if host.form == "json":
        return jsonc.loads(text)
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {error}", remedy="Correct the settings by hand.") from None


def _require_rest(host: Host, old: str, new: str, expected: Mapping[str, Any]) -> str:
    """Return `new` if it differs from `old` in the servers alone. Raises InputError."""
    before, after = _loads(host, old), _loads(host, new)
    rest = [{k: v for k, v in each.items() if k != host.servers} for each in (before, after)]
    if servers(host, new) != expected or rest[0] != rest[1]:
        raise InputError(
            "the settings cannot be changed without touching the rest of them",
            remedy="Change them by hand.",
        )
    return new
