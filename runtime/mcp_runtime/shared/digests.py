"""The digest of a definition in a list, by which a change shows.

Source: the draft "Deterministic Per-Primitive Digests" of June 2026, "Digest computation".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from mcp_runtime import revisions
from mcp_runtime.revisions import latest as t

Definition: TypeAlias = t.Tool | t.Prompt | t.Resource | t.ResourceTemplate | Mapping[str, Any]
"""A model of `types`, or its JSON."""


def definition_digest(definition: Definition) -> str:
    """Return the digest of a tool, prompt, resource or resource template: `sha256:` and 64 digits.

    It is the SHA-256 of the canonical JSON (RFC 8785) of the definition without its `_meta`, so it
    is the same in each process, and another one after any other change. Raises ValueError for what
    is not JSON.
    """
    whole = definition if isinstance(definition, Mapping) else t.to_wire(definition)
    return revisions.definition_digest(whole)
