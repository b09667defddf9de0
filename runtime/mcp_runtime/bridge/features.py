"""The feature used by a request: its kind, and its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import structs

from mcp_runtime.bridge.names import FEATURES, Kind
from mcp_runtime.bridge.sending import no_such_resource
from mcp_runtime.core.wire import error_codes, rpc_errors
from mcp_runtime.errors import RpcError
from mcp_runtime.revisions import latest as t
from mcp_runtime.revisions import revision
from mcp_runtime.server.context import Context


def feature(method: str, params: Any) -> tuple[Kind, str, Callable[[str], Any]]:
    """Return the kind and the public name of a request's feature, and a function to rename it.

    Raises RpcError for a reference to no feature.
    """
    if method in FEATURES:
        kind, member = FEATURES[method]
        return kind, getattr(params, member), lambda own: structs.replace(params, **{member: own})
    ref = params.ref
    if isinstance(ref, t.PromptReference):
        kind, member = "prompt", "name"
    elif isinstance(ref, t.ResourceTemplateReference):
        kind, member = "template", "uri"
    else:
        raise rpc_errors.invalid_params(f"nothing is completed of a {type(ref).__name__}")
    return (
        kind,
        getattr(ref, member),
        lambda own: structs.replace(params, ref=structs.replace(ref, **{member: own})),
    )


NO_COMPLETION: Final = t.CompleteResult(
    completion=t.CompleteResultCompletion(values=[]), result_type="complete"
)


def is_declared_completion(method: str, ctx: Context) -> bool:
    """Return True for a completion which the front has declared, by an older or another server.

    Then a server that completes nothing has no suggestions; the method is known to the client.
    """
    spoken = revision(ctx.revision).methods
    return method == "completion/complete" and bool(spoken[method].capability)


def unknown_feature(kind: Kind, name: str, ctx: Context) -> RpcError:
    if kind == "resource":
        return no_such_resource(name, ctx)
    return RpcError(error_codes.INVALID_PARAMS, f"Unknown {kind}: {name[:200]}")
