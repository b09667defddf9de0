"""What a client does for its server: sampling, elicitation and roots, in either era."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import unquote

from msgspec import UNSET

from mcp_runtime.core import error_codes
from mcp_runtime.core.capabilities import declares, needed
from mcp_runtime.errors import NotApproved, NotOffered, RpcError
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.elicitation_form import mismatch
from mcp_runtime.shared.sampling import rounds, unbalanced
from mcp_runtime.shared.uri_template import is_uri

__all__ = ["Approve", "ClientCallbacks", "OnElicit", "OnSample", "Roots"]

OnSample: TypeAlias = Callable[[t.CreateMessageRequestParams], Awaitable[t.CreateMessageResult]]
OnElicit: TypeAlias = Callable[[t.ElicitRequestParams], Awaitable[t.ElicitResult]]
Roots: TypeAlias = Sequence[t.Root] | Callable[[], Awaitable[Sequence[t.Root]]]
Approve: TypeAlias = Callable[[str, Any], Awaitable[bool]]

_USER_REJECTED: Final = -1
"""Source: 2025-11-25 client/sampling, "Error Handling"."""


@dataclass(slots=True)
class ClientCallbacks:
    """The application's callbacks, which answer the server's requests."""

    on_sample: OnSample | None
    on_elicit: OnElicit | None
    roots: Roots | None
    approve: Approve | None
    limits: Limits = DEFAULT
    declared: Mapping[str, Any] | None = None

    def capabilities(
        self, sample_tools: bool, elicit_modes: Sequence[Literal["form", "url"]]
    ) -> t.ClientCapabilities:
        """The capabilities to declare. Raises ValueError for elicitation without a mode."""
        if self.on_elicit is not None and not elicit_modes:
            raise ValueError("elicitation needs a mode: form, url or both")
        tools: dict[str, Any] = {"tools": {}} if sample_tools else {}
        modes: dict[str, Any] = {mode: {} for mode in elicit_modes}
        capabilities = t.ClientCapabilities(
            sampling=UNSET if self.on_sample is None else t.ClientCapabilitiesSampling(**tools),
            elicitation=UNSET
            if self.on_elicit is None
            else t.ClientCapabilitiesElicitation(**modes),
            roots=UNSET if self.roots is None else t.ClientCapabilitiesRoots(),
        )
        self.declared = t.to_wire(capabilities)
        return capabilities

    async def answer(self, method: str, params: Any) -> Any:
        """The result of one request of the server. Raises RpcError, NotApproved."""
        if self.approve is not None and not await self.approve(method, params):
            return self._rejected(method)
        return await _ANSWERS[method](self, params)

    async def responses(self, result: t.InputRequiredResult) -> Any:
        """The input that a result asks for; UNSET if it asks for none.

        Raises NotOffered for what was never declared, NotApproved, and what the callbacks raise.
        """
        if result.input_requests is UNSET:
            return UNSET
        requests = result.input_requests
        for request in requests.values():
            self._require_declared(request)
        responses = await asyncio.gather(*(self._response(each) for each in requests.values()))
        return dict(zip(requests, responses, strict=True))

    async def _response(self, request: Any) -> Any:
        try:
            return await self.answer(request.method, getattr(request, "params", UNSET))
        except RpcError as error:
            raise NotApproved(f"{request.method}: {error}") from None

    def _require_declared(self, request: Any) -> None:
        params = getattr(request, "params", UNSET)
        written: Mapping[str, Any] = {} if params is UNSET else t.to_wire(params)
        for path in needed(request.method, request.method.partition("/")[0], written):
            if not declares(self.declared or {}, path):
                raise NotOffered(request.method, f"{path}: we have not declared it")

    def _rejected(self, method: str) -> Any:
        if method == "elicitation/create":
            return t.ElicitResult(action="decline")
        raise RpcError(_USER_REJECTED, "User rejected the request")

    async def sample(self, params: Any) -> Any:
        """Source: 2025-11-25 client/sampling, "Error Handling"."""
        assert self.on_sample is not None
        if fault := unbalanced(params.messages):
            raise RpcError(error_codes.INVALID_PARAMS, f"Invalid params: {fault}")
        if rounds(params.messages) > self.limits.tool_rounds:
            why = f"over {self.limits.tool_rounds} rounds of tools (Limits.tool_rounds)"
            raise RpcError(error_codes.INVALID_PARAMS, f"Invalid params: {why}")
        return await self.on_sample(params)

    async def elicit(self, params: Any) -> Any:
        """Raises ValueError for an answer that does not fit the form: it is not sent."""
        assert self.on_elicit is not None
        answer = await self.on_elicit(params)
        is_form = answer.action == "accept" and isinstance(params, t.ElicitRequestFormParams)
        if is_form and (fault := mismatch(params.requested_schema, answer.content)):
            raise ValueError(f"the answer does not fit the form: {fault}")
        return answer

    async def list_roots(self, params: Any) -> Any:
        assert self.roots is not None
        roots = await self.roots() if callable(self.roots) else self.roots
        return t.ListRootsResult(roots=[_require_file(root) for root in roots])


_ANSWERS: Final[Mapping[str, Callable[[ClientCallbacks, Any], Awaitable[Any]]]] = {
    "sampling/createMessage": ClientCallbacks.sample,
    "elicitation/create": ClientCallbacks.elicit,
    "roots/list": ClientCallbacks.list_roots,
}


def _require_file(root: t.Root) -> t.Root:
    """Raises RpcError for what is no file:// URI.

    Source: 2025-11-25 client/roots, "Data Types" and "Security Considerations".
    """
    path = unquote(root.uri).replace("\\", "/")
    if not root.uri.startswith("file://") or not is_uri(root.uri) or "/../" in f"{path}/":
        raise RpcError(error_codes.INTERNAL_ERROR, "a root is a file:// URI without `..`")
    return root
