"""Registered items by name, and the rules by which clients see them."""

from __future__ import annotations

import copy
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, Generic, Self, TypeVar

from msgspec import UNSET

from mcp_runtime.core.wire import rpc_errors
from mcp_runtime.option_checks import texts
from mcp_runtime.server.rules import NO_RULES, Rules, Switch

_T = TypeVar("_T")

_NO_TAGS: Final = frozenset[str]()


class Registry(dict[str, _T], Generic[_T]):
    """Enabled items by name, in the order of their registration, listed in pages.

    A cursor names the last item of the previous page; it is valid while that item is registered.
    Source: 2025-11-25 server/utilities/pagination.
    """

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what
        self.registered: dict[str, _T] = {}
        """The items, the disabled ones too."""
        self.tags: dict[str, frozenset[str]] = {}
        """The tags of items. An item that has none is absent."""
        self._reserved: dict[str, Callable[[str], bool]] = {}

    def reserve(self, owner: str, owns: Callable[[str], bool]) -> None:
        """Keep names for the server mounted as `owner`. Raises ValueError if one is taken."""
        taken = next((key for key in self.registered if owns(key)), None)
        if taken is not None or owner in self._reserved:
            what = f"a server mounted as {owner!r}" if taken is None else f"a {self.what} {taken!r}"
            raise ValueError(f"{owner!r} cannot be the prefix of a mounted server: there is {what}")
        self._reserved[owner] = owns

    def add(self, key: str, item: _T, tags: Iterable[str] = (), rules: Rules = NO_RULES) -> None:
        """Add an item. Raises ValueError if the name is taken."""
        self.require_free(key)
        self.put(key, item, tags, rules)

    def put(self, key: str, item: _T, tags: Iterable[str] = (), rules: Rules = NO_RULES) -> None:
        """Add an item, or put it in the place of the one with its name."""
        self.registered[key] = item
        self.tags.pop(key, None)
        if tags:
            self.tags[key] = frozenset(tags)
        if self._enables(rules, key, True):
            self[key] = item
        else:
            self.pop(key, None)

    def remove(self, key: str) -> None:
        """Remove an item. Raises KeyError."""
        del self.registered[key]
        self.tags.pop(key, None)
        self.pop(key, None)

    def require_free(self, key: str) -> None:
        """Raise ValueError if the name is taken."""
        if key in self.registered:
            raise ValueError(f"a {self.what} {key!r} is registered already")
        for owner, owns in self._reserved.items():
            if owns(key):
                raise ValueError(f"{self.what} {key!r}: the server mounted as {owner!r} has it")

    def select(self, rules: Rules, otherwise: Collection[str]) -> Registry[_T]:
        """Return the registry with other items enabled; `otherwise` are the names of the items
        that are enabled if no rule is about them.
        """
        selected: Registry[_T] = Registry(self.what)
        selected.registered, selected.tags = self.registered, self.tags
        for key, item in [*self.registered.items()]:
            if self._enables(rules, key, key in otherwise):
                selected[key] = item
        return selected

    def _enables(self, rules: Rules, key: str, otherwise: bool) -> bool:
        if not rules:
            return otherwise
        return rules.enables(self._names_of(key), self.tags.get(key, _NO_TAGS), otherwise)

    def names(self) -> set[str]:
        """Return the names of all registered items."""
        return {name for key in [*self.registered] for name in self._names_of(key)}

    def used_tags(self) -> set[str]:
        """Return the tags of all registered items."""
        return {tag for tags in [*self.tags.values()] for tag in tags}

    def _names_of(self, key: str) -> tuple[str, ...]:
        """Return the names by which rules may call an item: a resource has a URI and a name.

        The last is the name of no item of another registry.
        """
        model: Any = getattr(self.registered[key], "model", None)
        return key, getattr(model, "name", key), f"{self.what} {key}"

    def page(self, cursor: str | None, size: int) -> tuple[list[_T], Any]:
        """Items, and the next cursor or UNSET. Raises RpcError for an unknown cursor."""
        keys = list(self)
        start = 0 if cursor is None else self._after(cursor, keys)
        page = keys[start : start + size]
        has_more = start + size < len(keys)
        after = urlsafe_b64encode(page[-1].encode()).decode() if has_more else UNSET
        return [self[key] for key in page], after

    def _after(self, cursor: str, keys: list[str]) -> int:
        try:
            return keys.index(urlsafe_b64decode(cursor.encode("ascii")).decode()) + 1
        except (Base64Error, ValueError):
            why = f"unknown cursor for the list of {self.what}s"
            raise rpc_errors.invalid_params(why) from None


class Switchable:
    """Registries by kind, whose items are enabled and disabled together.

    A subclass has an attribute for each kind.
    """

    rules: Rules = NO_RULES
    """The rules for the items, of those registered later too."""

    def remove(self, kind: str, key: str) -> None:
        """Remove a feature, and the rules for its name. Raises KeyError."""
        registry: Registry[Any] = getattr(self, kind)
        registry.remove(key)
        self.rules = self.rules.without(key)

    def switch(self, switch: Switch) -> list[str]:
        """Enable or disable features; return the changed lists. Raises ValueError for an
        unknown name.
        """
        self.rules, before = self.rules.switch(self._checked(switch)), copy.copy(self)
        for kind, registry in self._by_kind.items():
            setattr(self, kind, registry.select(self.rules, registry.registered))
        return self.lists_other_than(before)

    def switch_for(self, session: Rules, switch: Switch) -> Rules:
        """Return the rules of a session with new ones. Unused tags are left out.

        Raises ValueError for an unknown name.
        """
        checked = self._checked(switch)
        used = {tag for registry in self._by_kind.values() for tag in registry.used_tags()}
        return session.switch(
            checked._replace(tags=[each for each in checked.tags if each in used])
        )

    def seen_by(self, session: Rules) -> Self:
        """Return the features as the rules of a session show them."""
        seen = copy.copy(self)
        for kind, registry in self._by_kind.items():
            setattr(seen, kind, registry.select(session, registry))
        return seen

    def lists_other_than(self, before: Switchable) -> list[str]:
        """Return the lists with other entries than `before` has."""
        now, then = self._by_kind, before._by_kind
        return [*{_KINDS[kind]: None for kind in now if now[kind].keys() != then[kind].keys()}]

    @property
    def _by_kind(self) -> dict[str, Registry[Any]]:
        return {kind: getattr(self, kind) for kind in _KINDS}

    def _checked(self, switch: Switch) -> Switch:
        """Return the switch with its names and tags as lists. Raises ValueError for an unknown
        name.
        """
        known = {name for registry in self._by_kind.values() for name in registry.names()}
        names, tags = texts("names", switch.names), texts("tags", switch.tags)
        if unknown := [name for name in names if name not in known]:
            raise ValueError(f"{unknown[0]!r} is not the name of a registered feature, nor its URI")
        return switch._replace(names=names, tags=tags)

    def hides(self, prompt_or_template: str) -> bool:
        """Return True if a prompt or a template is registered and disabled."""
        name = prompt_or_template
        return any(name in each.registered and name not in each for each in self._by_kind.values())


_KINDS: Final = {
    "tools": "tools",
    "resources": "resources",
    "resource_templates": "resources",
    "prompts": "prompts",
}
"""The list that a client hears of when one of these kinds changes."""
