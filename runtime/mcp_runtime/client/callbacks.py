"""Answers the requests a server makes: sampling, elicitation and roots, in either era."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit

from mcp_runtime.core.terms.capabilities import capability_of, declares, needed
from mcp_runtime.core.wire import error_codes, rpc_errors
from mcp_runtime.errors import CallbackError, NotApproved, NotOffered, RpcError, TooMuch
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.option_checks import texts
from mcp_runtime.revisions import (
    HANDLERS,
    DecodeError,
    EncodeError,
    first_name,
    result_type,
    revision,
)
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.elicitation_form import mismatch
from mcp_runtime.shared.sampling import fault_in_rounds, rounds
from mcp_runtime.shared.uri_template import is_uri

OnSample: TypeAlias = Callable[[t.CreateMessageRequestParams], Awaitable[t.CreateMessageResult]]
OnElicit: TypeAlias = Callable[[t.ElicitRequestParams], Awaitable[t.ElicitResult]]
OnRequest: TypeAlias = Callable[[Any], Awaitable[Any]]
_Roots: TypeAlias = Sequence[t.Root | str]
Roots: TypeAlias = _Roots | Callable[[], _Roots | Awaitable[_Roots]]
"""file:// URIs, or a function that gives them when the server asks; it may be async."""
Approve: TypeAlias = Callable[[str, Any], Awaitable[bool]]
_F = TypeVar("_F", bound=Callable[..., object] | None)

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
    elicit_schemes: frozenset[str] = frozenset({"http", "https"})
    declared: Mapping[str, Any] | None = None
    handlers: dict[str, OnRequest] = field(default_factory=dict[str, OnRequest])
    """Handlers of requests that no other member answers, by method."""

    def __post_init__(self) -> None:
        self.set_roots(self.roots)

    def set_roots(self, roots: Roots | None) -> None:
        """Set the roots. Raise ValueError for a root other than a file:// URI, TypeError for
        another type.
        """
        self.roots = roots if roots is None or callable(roots) else _roots(roots)

    def capabilities(
        self, sample_tools: bool, elicit_modes: Sequence[Literal["form", "url"]]
    ) -> t.ClientCapabilities:
        """Return the capabilities to declare. Raises ValueError for elicitation without a mode of
        MCP.
        """
        if self.on_elicit is not None and not elicit_modes:
            raise ValueError("elicitation needs a mode: form, url or both")
        tools: dict[str, Any] = {"tools": {}} if sample_tools else {}
        known = texts("elicit_modes", elicit_modes, ("form", "url"))
        modes: dict[str, Any] = {mode: {} for mode in known}
        capabilities = t.ClientCapabilities(
            sampling=t.UNSET if self.on_sample is None else t.ClientCapabilitiesSampling(**tools),
            elicitation=t.UNSET
            if self.on_elicit is None
            else t.ClientCapabilitiesElicitation(**modes),
            roots=t.UNSET if self.roots is None else t.ClientCapabilitiesRoots(),
        )
        self.declared = t.to_wire(capabilities)
        return capabilities

    async def answer(self, method: str, params: Any) -> Any:
        """Return the result of one request of the server. Raises RpcError, NotApproved,
        CallbackError.
        """
        if isinstance(params, t.ElicitRequestURLParams):
            self._require_scheme(params.url)
        if self.approve is not None and not await is_approved(self.approve, method, params):
            return self._reject(method)
        if (handler := self.handlers.get(method)) is not None:
            return await _check_handler_result(method, handler(params))
        if method not in _ANSWERS:
            raise rpc_errors.method_not_found(method)
        return await _ANSWERS[method](self, params)

    def handle(self, method: str, handler: OnRequest) -> None:
        """Answer requests of `method` with a handler."""
        self.handlers[first_name(method)] = handler

    async def responses(self, requests: Mapping[str, Any]) -> dict[str, Any]:
        """Return the input for each of these requests, by the same keys.

        Raises NotOffered for an undeclared capability, TooMuch for too many requests, NotApproved,
        CallbackError, and the exceptions of the callbacks.
        """
        most = self.limits.input_requests
        if len(requests) > most:
            raise TooMuch(
                f"{len(requests)} requests for input, over {most} (Limits.input_requests)"
            )
        for request in requests.values():
            self._require_declared(request)
        at_a_time = asyncio.Semaphore(self.limits.input_callbacks)
        responses = [self._response(request, at_a_time) for request in requests.values()]
        return dict(zip(requests, await asyncio.gather(*responses), strict=True))

    async def _response(self, request: Any, at_a_time: asyncio.Semaphore) -> Any:
        try:
            async with at_a_time:
                method = first_name(request.method)
                return await self.answer(method, getattr(request, "params", t.UNSET))
        except RpcError as error:
            raise NotApproved(f"{request.method}: {error}") from None

    def _require_declared(self, request: Any) -> None:
        params = getattr(request, "params", t.UNSET)
        written: Mapping[str, Any] = {} if params is t.UNSET else t.to_wire(params)
        for path in needed(request.method, capability_of(request.method), written):
            if not declares(self.declared or {}, path):
                raise NotOffered(request.method, path, "client")

    def _reject(self, method: str) -> Any:
        if method == "elicitation/create":
            return t.ElicitResult(action="decline")
        raise RpcError(_USER_REJECTED, "User rejected the request")

    async def sample(self, params: Any) -> Any:
        """Return the answer of `on_sample`. Raises RpcError for messages no model should be asked.

        Source: 2025-11-25 client/sampling, "Error Handling".
        """
        assert self.on_sample is not None
        if fault := fault_in_rounds(params.messages):
            raise RpcError(error_codes.INVALID_PARAMS, f"Invalid params: {fault}")
        if rounds(params.messages) > self.limits.tool_rounds:
            why = f"over {self.limits.tool_rounds} rounds of tools (Limits.tool_rounds)"
            raise RpcError(error_codes.INVALID_PARAMS, f"Invalid params: {why}")
        answer = await _answer("on_sample", self.on_sample(params), t.CreateMessageResult)
        if fault := _fault_of_answer(params, answer):
            raise CallbackError(f"the answer of on_sample {fault}", f"the client's answer {fault}")
        return answer

    async def elicit(self, params: Any) -> Any:
        """Return the answer of `on_elicit`. Raises CallbackError if the answer does not fit the
        form.
        """
        assert self.on_elicit is not None
        answer = await _answer("on_elicit", self.on_elicit(params), t.ElicitResult)
        if (
            isinstance(params, t.ElicitRequestFormParams)
            and answer.action == "accept"
            and (fault := mismatch(params.requested_schema, answer.content))
        ):
            why = f"does not fit the form: {fault}"
            raise CallbackError(f"the answer of on_elicit {why}", f"the client's answer {why}")
        return answer

    def _require_scheme(self, url: str) -> None:
        """Raise RpcError for a URL a user should not be sent to."""
        scheme = url.partition(":")[0].lower()
        if scheme not in self.elicit_schemes or not is_uri(url) or not _has_host(url, scheme):
            known = ", ".join(sorted(self.elicit_schemes))
            why = f"the URL to visit is not a valid URI of these schemes: {known}"
            raise RpcError(error_codes.INVALID_PARAMS, f"Invalid params: {why}")
        if "@" in urlsplit(url).netloc:
            why = "the URL to visit names a user, which can pass for its host"
            raise RpcError(error_codes.INVALID_PARAMS, f"Invalid params: {why}")

    async def list_roots(self, params: Any) -> Any:
        assert self.roots is not None
        given = self.roots() if callable(self.roots) else self.roots
        roots = await given if isinstance(given, Awaitable) else given
        try:
            return t.ListRootsResult(roots=_roots(roots))
        except (TypeError, ValueError) as error:  # whose text has the URI, not the server's
            why = "a root is a file:// URI without `..`"
            raise CallbackError(f"roots: {error}", why) from None


_ANSWERS: Final[Mapping[str, Callable[[ClientCallbacks, Any], Awaitable[Any]]]] = {
    "sampling/createMessage": ClientCallbacks.sample,
    "elicitation/create": ClientCallbacks.elicit,
    "roots/list": ClientCallbacks.list_roots,
}


OPTIONS: Final[Mapping[str, str]] = {
    "sampling/createMessage": "on_sample",
    "elicitation/create": "on_elicit",
    "roots/list": "roots",
    "notifications/message": "on_log",
    "notifications/elicitation/complete": "on_elicitation_complete",
}
"""The option of `Client` that handles a message of a server."""


async def _answer(name: str, returned: object, expected: type[Any]) -> Any:
    """Return the answer of a callback. Raises CallbackError if it is not async, or of another
    type.
    """
    if not inspect.isawaitable(returned):
        raise CallbackError(f"{name} is awaited; write it with `async def`")
    if not isinstance(answer := await returned, expected):
        what = f"{name} returned {type(answer).__name__}"
        raise CallbackError(f"{what}; return types.{expected.__name__}")
    return answer


async def _check_handler_result(method: str, returned: object) -> Any:
    """Return the result of a handler of `client.on`, a model. Raises CallbackError if it is not
    async, or of no type that answers the method.
    """
    name = f"the handler of {method}"
    answer = await _answer(name, returned, object)
    type = result_type(method)
    try:
        return t.from_wire(type, answer if isinstance(answer, dict) else t.to_wire(answer))
    except (DecodeError, EncodeError) as error:
        expected = revision(HANDLERS).methods[first_name(method)].results
        wanted = " or ".join(f"types.{each}" for each in expected)
        why = f"does not fit: {error}"
        raise CallbackError(
            f"{name}: {why}; return {wanted}", f"the client's answer {why}"
        ) from None


def _fault_of_answer(params: t.CreateMessageRequestParams, answer: t.CreateMessageResult) -> str:
    """Return how a model's answer differs from the request; empty if it fits.

    Source: 2025-11-25 client/sampling, "Tools in Sampling".
    """
    content = answer.content if isinstance(answer.content, list) else [answer.content]
    offered = () if params.tools is t.UNSET else [tool.name for tool in params.tools]
    for block in content:
        if isinstance(block, t.ToolResultContent):
            return "has the result of a tool, which is the server's to give"
        if isinstance(block, t.ToolUseContent) and block.name not in offered:
            return f"uses the tool {block.name[:80]!r}, which the server has not offered"
    return ""


async def is_approved(approve: Approve, method: str, params: Any) -> bool:
    """Return True if the application approves. Raises CallbackError if `approve` is not async."""
    return bool(await _answer("approve", approve(method, params), object))


def plain(name: str, callback: _F) -> _F:
    """Return the callback. Raises TypeError for an async function: nobody would await it."""
    if inspect.iscoroutinefunction(callback):
        raise TypeError(f"{name} is called and not awaited; give a function without `async`")
    return callback


def _has_host(url: str, scheme: str) -> bool:
    try:
        return scheme not in ("http", "https") or bool(urlsplit(url).hostname)
    except ValueError:
        return False


def _roots(roots: Sequence[t.Root | str]) -> list[t.Root]:
    """Check roots and return them as models. Raises ValueError, TypeError.

    Source: 2025-11-25 client/roots, "Data Types" and "Security Considerations".
    """
    if isinstance(roots, str):
        raise TypeError(f"roots are a list of file:// URIs, not one string, {roots[:80]!r}")
    return [_root(root) for root in roots]


def _root(root: object) -> t.Root:
    if not isinstance(root, t.Root | str):
        raise TypeError(f"a root is a file:// URI or a Root, not {root!r:.80}")
    uri = root if isinstance(root, str) else root.uri
    path = unquote(uri).replace("\\", "/")
    if not uri.startswith("file://") or not is_uri(uri) or "/../" in f"{path}/":
        raise ValueError(f"a root is a file:// URI without `..`, not {uri[:80]!r}")
    return t.Root(uri=uri) if isinstance(root, str) else root
