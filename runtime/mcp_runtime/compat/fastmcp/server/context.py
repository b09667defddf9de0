"""`Context` of `fastmcp`."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final
from weakref import WeakKeyDictionary

from mcp_runtime.compat import models
from mcp_runtime.compat.content import text_block
from mcp_runtime.compat.context import (
    RequestContext,
    ServerSession,
    current,
    elicitation,
    request_context,
)
from mcp_runtime.compat.mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp_runtime.compat.models import Model
from mcp_runtime.compat.shapes import items_of, members_of
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context as NativeContext
from mcp_runtime.server.context import Elicited
from mcp_runtime.server.rules import Switch

_of_sessions: Final[WeakKeyDictionary[Any, dict[str, Any]]] = WeakKeyDictionary()
"""The values kept by handlers, by connection."""


class _Done:
    """The result of a call, to be awaited or not."""

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


class Context:
    """The context of a request: a function gets it in a parameter annotated `Context`."""

    def __init__(self, fastmcp: Any = None, *, native: NativeContext | None = None) -> None:
        self._fastmcp = fastmcp
        self._native = current.get() if native is None else native
        self._own_state: dict[str, Any] = {}

    @property
    def native(self) -> NativeContext:
        """The native context. Raises RuntimeError outside of a request."""
        if self._native is None:
            raise RuntimeError("Context is not available outside of a request")
        return self._native

    async def __aenter__(self) -> Context:
        return self

    async def __aexit__(self, *exception: object) -> None:
        return None

    @property
    def fastmcp(self) -> Any:
        """The server."""
        return self._fastmcp

    @property
    def request_context(self) -> RequestContext | None:
        return None if self._native is None else request_context(self._native)

    @property
    def lifespan_context(self) -> Any:
        """The value the server's lifespan yielded."""
        return {} if self.native.lifespan is None else self.native.lifespan

    @property
    def session(self) -> ServerSession:
        return ServerSession(self.native)

    @property
    def request_id(self) -> str:
        return str(self.native.request_id)

    @property
    def client_id(self) -> str | None:
        token = self.native.token
        return token.client_id if token is not None else self.native.meta.get("client_id")

    @property
    def session_id(self) -> str:
        """A name of the connection, the same for all its requests."""
        return f"{id(self.native.peer):x}"

    @property
    def transport(self) -> str | None:
        return None

    # ---- messages

    async def log(
        self,
        message: Any,
        level: Any = "info",
        logger_name: str | None = None,
        extra: Any = None,
    ) -> None:
        """Send a log message to the client; `extra` goes along with it."""
        data = message if extra is None else {"msg": message, "extra": extra}
        await self.native.log(level or "info", data, logger_name)

    async def debug(self, message: Any, logger_name: str | None = None, extra: Any = None) -> None:
        await self.log(message, "debug", logger_name, extra)

    async def info(self, message: Any, logger_name: str | None = None, extra: Any = None) -> None:
        await self.log(message, "info", logger_name, extra)

    async def warning(
        self, message: Any, logger_name: str | None = None, extra: Any = None
    ) -> None:
        await self.log(message, "warning", logger_name, extra)

    async def error(self, message: Any, logger_name: str | None = None, extra: Any = None) -> None:
        await self.log(message, "error", logger_name, extra)

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Send progress, if the client asked for it."""
        await self.native.progress(progress, total, message)

    async def send_notification(self, notification: Any) -> None:
        """Tell clients of a changed list; other notifications are not sent."""
        method: str = getattr(notification, "root", notification).method
        parts = method.split("/")
        if parts[-1] == "list_changed":
            self.native.server.announce_change(parts[1])

    # ---- features of the server

    async def read_resource(self, uri: Any) -> list[ReadResourceContents]:
        """Return the contents of a resource of this server."""
        return [ReadResourceContents.of(each) for each in await self.native.read(str(uri))]

    async def list_resources(self) -> list[Model]:
        resources: list[Model] = self._fastmcp.native.resources()
        return resources

    async def list_prompts(self) -> list[Model]:
        prompts: list[Model] = self._fastmcp.native.prompts()
        return prompts

    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        return await self._fastmcp.render_prompt(name, arguments)

    async def enable_components(
        self, *, names: Any = None, tags: Any = None, match_all: bool = False
    ) -> None:
        """Show features to this session alone; with `match_all` every feature."""
        await self._switch(True, names, tags, match_all)

    async def disable_components(
        self, *, names: Any = None, tags: Any = None, match_all: bool = False
    ) -> None:
        """Hide features from this session alone; with `match_all` every feature."""
        await self._switch(False, names, tags, match_all)

    async def _switch(self, enables: bool, names: Any, tags: Any, every: bool) -> None:
        if every:
            await self.native.peer.switch(Switch(not enables, only=True))
            return
        change = self.native.enable if enables else self.native.disable
        await change(*(names or ()), tags=tags or ())

    # ---- questions to the client

    async def list_roots(self) -> list[Model]:
        return [models.model("Root")(**t.to_wire(each)) for each in await self.native.roots()]

    async def sample(
        self,
        messages: Any,
        system_prompt: str | None = None,
        include_context: Any = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        model_preferences: Any = None,
        **options: Any,
    ) -> Any:
        """Ask the client's language model; the answer has `.text`.

        Raises NotImplementedError for tools and result types of `fastmcp`.
        """
        if options:
            names = ", ".join(options)
            raise NotImplementedError(f"sample({names}): ask for JSON, and read it in the handler")
        given = [messages] if isinstance(messages, str) else list(messages)
        is_name = isinstance(model_preferences, str)
        hints = [model_preferences] if is_name else items_of(model_preferences)
        preferences: Any = model_preferences
        if hints is not None:
            preferences = {"hints": [{"name": each} for each in hints]}
        answer: Any = await self.session.create_message(
            [_sampling_message(each) for each in given],
            max_tokens=512 if max_tokens is None else max_tokens,
            system_prompt=system_prompt,
            include_context=include_context,
            temperature=temperature,
            model_preferences=preferences,
        )
        content: Any = answer.content
        content.__dict__.setdefault("result", getattr(content, "text", None))
        return content

    async def elicit(self, message: str, response_type: Any = None, **options: Any) -> Any:
        """Ask the user: for a form, or for one value of a type, an enum or a list of choices.

        With `response_type=None` the user only agrees or refuses.
        """
        if response_type is None:
            schema: Any = {"type": "object", "properties": {}}
            return _answer(await self.native.elicit(message, schema), None)
        form = _form(response_type)
        if form is not None:
            return _answer(await self.native.elicit(message, form), "value")
        return elicitation(await self.native.elicit(message, response_type))

    # ---- state

    @property
    def _values(self) -> dict[str, Any]:
        if self._native is None:
            return self._own_state
        return _of_sessions.setdefault(self._native.peer, {})

    def set_state(self, key: str, value: Any, **_: Any) -> _Done:
        """Keep a value for the requests of this session; it may be awaited."""
        self._values[key] = value
        return _Done()

    async def get_state(self, key: str) -> Any:
        """Return a value kept for this session, or None."""
        return self._values.get(key)

    async def delete_state(self, key: str) -> None:
        self._values.pop(key, None)


def _form(response_type: Any) -> Any:
    """Return the form of a list of choices; None for a type, which the native context takes."""
    if (choices := members_of(response_type)) is not None:
        return _choices(list(choices), [_title(each) for each in choices.values()])
    if (values := items_of(response_type)) is not None:
        return _choices([str(each) for each in values], [])
    return None


def _title(choice: Any) -> str:
    members = members_of(choice)
    return str(choice) if members is None else str(members.get("title", ""))


def _choices(values: list[str], titles: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {"type": "string", "enum": values}
    if any(titles):
        options = {
            "type": "string",
            "oneOf": [
                {"const": value, "title": title or value}
                for value, title in zip(values, titles, strict=True)
            ],
        }
    return {"type": "object", "properties": {"value": options}, "required": ["value"]}


def _answer(answer: Elicited[Any], member: str | None) -> Any:
    content: Any = answer.content
    if answer.action == "accept" and member is not None:
        members = members_of(content)
        content = getattr(content, member) if members is None else members[member]
    elif answer.action == "accept":
        content = {}
    return elicitation(Elicited(answer.action, content))


def _sampling_message(message: Any) -> Any:
    if isinstance(message, str):
        return models.model("SamplingMessage")(role="user", content=text_block(message))
    return message
