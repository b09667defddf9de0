"""What a client of any revision must see of the pair server, feature by feature."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp_runtime import Client
from mcp_runtime.errors import RemoteError, SessionError
from mcp_runtime.revisions import ALL, UNSET, revision
from mcp_runtime.revisions import latest as t

__all__ = ["Host", "expected", "observed"]

PATIENCE: Final = 60.0
ROOTS: Final = [t.Root(uri="file:///work", name="work"), t.Root(uri="file:///home")]


class Host:
    """The client's side of a pair: answers questions, keeps what it heard."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.logs: list[Any] = []
        self.wire: list[tuple[str, bytes]] = []
        self.given_up = 0
        self.slow = 0.2
        """For a slow answer, in seconds: longer than the server's patience, where it has one."""
        self.was_slow = asyncio.Event()

    def options(self, revisions: Any) -> dict[str, Any]:
        return {
            "revisions": revisions,
            "on_sample": self.sample,
            "sample_tools": True,
            "on_elicit": self.elicit,
            "elicit_modes": ("form", "url"),
            "roots": ROOTS,
            "on_log": lambda params: self.logs.append([params.level, params.data, params.logger]),
            "log_level": "info",
            "trace": lambda direction, data: self.wire.append((direction, data)),
        }

    async def sample(self, params: t.CreateMessageRequestParams) -> t.CreateMessageResult:
        said: Any = params.messages[0].content
        self.asked.append(said.text)
        if said.text == "slowly":
            try:
                await asyncio.sleep(self.slow)
            except asyncio.CancelledError:
                self.given_up += 1
                raise
            finally:
                self.was_slow.set()
        content = t.TextContent(text="hi")
        return t.CreateMessageResult(role="assistant", content=content, model="m")

    async def elicit(self, params: t.ElicitRequestParams) -> t.ElicitResult:
        self.asked.append(params.message)
        if isinstance(params, t.ElicitRequestURLParams):
            return t.ElicitResult(action="accept")
        if params.message == "second?":
            return t.ElicitResult(action="decline")
        return t.ElicitResult(action="accept", content={"name": "Ada", "age": 36})


async def observed(client: Client, host: Host) -> dict[str, Any]:
    """Everything that can be seen, in the order in which it is tried."""
    seen: dict[str, Any] = {"revision": client.revision, "instructions": client.instructions}
    for name, part in PARTS.items():
        async with asyncio.timeout(PATIENCE):
            seen[name] = await part(client, host)
    return seen


async def _error(work: Awaitable[object]) -> Any:
    try:
        return await work
    except RemoteError as error:
        return error.code
    except SessionError as error:
        return type(error).__name__


def _text(result: t.CallToolResult) -> Any:
    texts = [getattr(block, "text", block.type) for block in result.content]
    return ["failed", *texts] if result.is_error is True else texts


async def _lists(client: Client, host: Host) -> Any:
    tools = await client.list_tools()
    resources = await client.list_resources()
    templates = await client.list_resource_templates()
    prompts = await client.list_prompts()
    return [
        [tool.name for tool in tools],
        [resource.uri for resource in resources],
        [template.uri_template for template in templates],
        [prompt.name for prompt in prompts],
    ]


async def _structured(client: Client, host: Host) -> Any:
    both = await client.call_tool("add", {"a": 2, "b": 3})
    default = await client.call_tool("add", {"a": 2})
    structured = None if both.structured_content is UNSET else both.structured_content
    return [_text(both), structured, _text(default)]


def _calls(*names: str, **arguments: Any) -> Callable[[Client, Host], Awaitable[Any]]:
    async def call(client: Client, host: Host) -> Any:
        async def one(name: str) -> Any:
            return _text(await client.call_tool(name, arguments))

        return [await _error(one(name)) for name in names]

    return call


async def _errors(client: Client, host: Host) -> Any:
    async def call(name: str, arguments: Any) -> Any:
        return _text(await client.call_tool(name, arguments))

    listed = client.request(
        "tools/list", t.PaginatedRequestParams(cursor="no cursor", meta=client.meta())
    )
    return [
        await call("add", {"a": "two"}),
        await call("add", {}),
        await call("fail", {}),
        await call("crash", {}),
        await _error(call("nope", {})),
        await _error(call("refuse", {"code": 7})),
        await _error(client.read_resource("nope://x")),
        await _error(client.read_resource("sum://1/x")),
        await _error(client.get_prompt("nope")),
        await _error(client.get_prompt("review")),
        await _error(listed),
        await _error(client.complete(t.PromptReference(name="nope"), "x", "")),
    ]


async def _read(client: Client, host: Host) -> Any:
    uris = ["note://today", "note://bytes", "note://asked", "greeting://x", "sum://1/2"]
    contents = [(await client.read_resource(uri))[0] for uri in [*uris, "deep://a/b"]]
    return [c.text if isinstance(c, t.TextResourceContents) else c.blob for c in contents]


async def _prompts(client: Client, host: Host) -> Any:
    review = await client.get_prompt("review", {"code": "x", "language": "c"})
    pictures = await client.get_prompt("pictures")
    asks = await client.get_prompt("asks")
    messages = [review.messages[0], pictures.messages[0], asks.messages[0]]
    return [[m.role, getattr(m.content, "text", m.content.type)] for m in messages]


async def _completion(client: Client, host: Host) -> Any:
    ref = t.PromptReference(name="review")
    completion = await client.complete(ref, "language", "py", chosen={"code": "c"})
    name = t.ResourceTemplateReference(uri="greeting://{name}")
    none = await client.complete(ref, "code", "x")
    return [completion.values, (await client.complete(name, "name", "a")).values, none.values]


async def _work(client: Client, host: Host) -> Any:
    steps: list[Any] = []
    result = await client.call_tool("work", on_progress=lambda *step: steps.append([*step]))
    before = [*host.logs]
    await client.set_log_level("error")
    await client.call_tool("work")
    return [_text(result), steps, before, host.logs[len(before) :]]


async def _cancelling(client: Client, host: Host) -> Any:
    begun = asyncio.Event()
    task = asyncio.create_task(client.call_tool("wait", on_progress=lambda *_: begun.set()))
    await begun.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    late = await _error(client.call_tool("wait", timeout=0.02))
    while await _seen(client, "waiting") != await _seen(client, "given up"):
        await asyncio.sleep(0.01)  # over HTTP an end may be overtaken; some end unbegun
    return [task.cancelled(), late]


async def _seen(client: Client, what: str) -> Any:
    return _text(await client.call_tool("saw", {"what": what}))


async def _hurry(client: Client, host: Host) -> Any:
    if revision(str(client.revision)).era == "handshake":
        host.slow = PATIENCE
    texts = None
    while "slowly" not in host.asked:  # a question may be given up before it is begun
        texts = _text(await client.call_tool("hurry"))
    await host.was_slow.wait()
    return [texts, host.given_up]


async def _pings(client: Client, host: Host) -> Any:
    return [await _error(client.ping()), _text(await client.call_tool("echo_ping"))]


async def _changes(client: Client, host: Host) -> Any:
    wanted = {"tools": True, "prompts": True, "resources": True}
    kinds: set[Any] = set()
    async with client.listen(**wanted, uris=["note://today"]) as changes:
        await client.call_tool("change")
        while len(kinds) < 4:
            kinds.add(await anext(changes))
    async with client.listen(uris=["greeting://ada"]) as changes:
        await client.call_tool("change")
        only = await anext(changes)
    await client.call_tool("change")
    return [sorted([what, uri or ""] for what, uri in kinds), [*only]]


async def _roots(client: Client, host: Host) -> Any:
    before = _text(await client.call_tool("where"))
    await client.roots_changed()
    return [before, _text(await client.call_tool("saw", {"what": "roots changed"}))]


async def _many(client: Client, host: Host) -> Any:
    calls = (client.call_tool("add", {"a": a, "b": a}) for a in range(50))
    results = await asyncio.gather(*calls)
    return [_text(result)[0] for result in results] == [f'{{"total":{2 * a}}}' for a in range(50)]


PARTS: Final[dict[str, Callable[[Client, Host], Awaitable[Any]]]] = {
    "lists": _lists,
    "structured": _structured,
    "plain": _calls("threaded", "contents", "sound", "link"),
    "errors": _errors,
    "read": _read,
    "prompts": _prompts,
    "completion": _completion,
    "work": _work,
    "questions": _calls("ask", "visit", "sample", "interview", "interview_more"),
    "sampling with tools": _calls("sample", tools=True),
    "roots": _roots,
    "cancelling": _cancelling,
    "hurry": _hurry,
    "pings": _pings,
    "changes": _changes,
    "many": _many,
}


def expected(spoken: str) -> dict[str, Any]:
    """What `told` reports of a session in that revision, which may lack parts of it."""
    at = ALL.index(spoken)
    shaken = revision(spoken).era == "handshake"
    logs = [[level, {"step": step}, "worker"] for step, level in enumerate(LEVELS, 1)]
    return {
        "revision": spoken,
        "instructions": "Try everything.",
        "lists": LISTS,
        "structured": [['{"total":5}'], {"total": 5} if at >= 2 else None, ['{"total":3}']],
        "plain": [
            [spoken],
            ["é\n\u2028😀", "image", "resource"],
            ["audio" if at >= 1 else "[audio: audio/wav]"],
            ["resource_link" if at >= 2 else "today: note://today"],
        ],
        "errors": _expected_errors(-32002 if shaken else -32602),
        "read": ["today", "AP8=", "file:///work,file:///home", "hello x", "3", "a/b"],
        "prompts": [["user", "Review c: x"], ["assistant", "image"], ["user", "m"]],
        "completion": [["python", "c"] if at >= 2 else ["python"], ["ada", "alan"], []],
        "work": [
            ["done"],
            [[step, 3, f"step {step}" if at >= 1 else None] for step in (1, 2, 3)],
            logs,
            logs[2:],
        ],
        "questions": _expected_answers(at),
        "sampling with tools": [
            ["m assistant"] if at >= 3 else _cannot("sampling/createMessage", "sampling.tools")
        ],
        "roots": [[WORK], [_result(int(shaken))]],
        "cancelling": [True, "TimedOut"],
        "hurry": [["given up"], 1] if shaken else [["in time"], 0],
        "pings": [None, ["pong"]] if shaken else ["NotOffered", ["NotOpen"]],
        "changes": [CHANGES, ["resource", "greeting://ada"]],
        "many": True,
    }


def _expected_errors(missing: int) -> list[Any]:
    """What fails, and how; `missing` is the code for a resource that is not there."""
    return [
        ["failed", '$.a: expected integer, found "two"'],
        ["failed", '$: expected the argument "a", found none'],
        ["failed", "as asked"],
        ["failed", "ValueError: a fault of ours"],
        -32602,
        7,
        missing,
        missing,
        -32602,
        -32602,
        -32602,
        -32602,
    ]


def _expected_answers(at: int) -> list[Any]:
    """What the tools that ask the client return; forms came with the third revision."""
    oldest = "it in 2024-11-05" if at == 0 else "it in 2025-03-26"
    no_form = _cannot("elicitation/create", "elicitation" if at >= 2 else oldest)
    no_url = _cannot("elicitation/create", "elicitation.url") if at >= 2 else no_form
    return [
        ["accept Person(name='Ada', age=36, likes='tea')"] if at >= 2 else no_form,
        ["accept"] if at >= 3 else no_url,
        ["m assistant"],
        ["2 m m"],
        ["accept decline"] if at >= 2 else no_form,
    ]


LEVELS: Final = ("info", "info", "error")
LISTS: Final = [
    [
        *("add", "threaded", "contents", "sound", "link", "fail", "crash", "refuse"),
        *("ask", "visit", "sample", "where", "interview", "interview_more", "hurry"),
        *("work", "wait", "saw", "change", "echo_ping"),
    ],
    ["note://today", "note://bytes", "note://asked"],
    ["greeting://{name}", "sum://{a}/{b}", "deep://{+path}"],
    ["review", "pictures", "asks"],
]
CHANGES: Final = [["prompts", ""], ["resource", "note://today"], ["resources", ""], ["tools", ""]]


def _result(value: int) -> str:
    return f'{{"result":{value}}}'


WORK: Final = '{"result":["file:///work","file:///home"]}'


def _cannot(method: str, capability: str) -> list[str]:
    return ["failed", f"{method}: the client does not offer {capability}"]
