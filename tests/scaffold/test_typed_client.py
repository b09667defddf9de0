"""A typed client: its methods equal raw calls, and text of the server stays text."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import msgspec
import pytest

from mcp_bindgen.cli.client.lock import lock_of
from mcp_bindgen.scaffold.client_model import Lists, read_client
from mcp_bindgen.scaffold.client_text import ClientText, class_names, write_client
from mcp_runtime import Client, Context, Server, ToolFailed, types
from mcp_runtime.extensions.tasks import ClientTasks, Tasks
from tests.support import tool_lists

EMPTY: Final = {"type": "object"}
SECRET: Final = 'x""") + __import__("os").system("touch owned") #'


def lists_of(name: str = "weather", **lists: Any) -> Lists:
    data = json.dumps({"tools": [], **lists}).encode()
    return read_client(data, "lists.json", class_names(name))


def text_of(name: str = "weather", target: str = "runtime", **lists: Any) -> str:
    data = json.dumps({"tools": [], **lists}).encode()
    lock = lock_of(data, "lists.json", target, "2026-11-28")
    whole = lists_of(name, **lists)
    title = "weather 1"
    return write_client(ClientText(name, whole, title, lock.tool_digests(), lock.seen, "", target))


def load(text: str, name: str = "a_typed_client") -> ModuleType:
    """Run the module, whose statements are looked at before."""
    module = ModuleType(name)
    sys.modules[name] = module  # where msgspec looks names up
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def tool(name: str, properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {**EMPTY, "properties": properties or {}}, **more}


# ---- calls


def weather_server() -> Server:
    server = Server("weather", "1")

    class Report(msgspec.Struct):
        city: str
        rain: list[int]

    @server.tool
    def forecast(city: str, days: int = 2) -> Report:
        """Forecast the weather."""
        if not days:
            raise ValueError("no days")
        return Report(city, [0] * days)

    @server.tool(name="echo-all")
    def echo(text: str) -> str:
        return text

    @server.prompt
    def greet(name: str, style: str = "plain") -> str:
        return f"{style} {name}"

    @server.completion("greet", "name")
    def names(value: str) -> list[str]:
        return [value + "a"]

    @server.resource("config://app")
    def config() -> str:
        return "config"

    @server.resource("logs://{day}{?level}")
    def logs(day: str, level: str = "all") -> str:
        return f"{day} {level}"

    return server


async def listed(client: Client) -> dict[str, Any]:
    wire = types.to_wire
    return {
        "tools": [wire(each) for each in await client.list_tools()],
        "prompts": [wire(each) for each in await client.list_prompts()],
        "resources": [wire(each) for each in await client.list_resources()],
        "resourceTemplates": [wire(each) for each in await client.list_resource_templates()],
    }


async def test_calls_through_the_client_equal_raw_calls() -> None:
    async with Client(weather_server()) as client:
        module = load(text_of(**await listed(client)))
        weather = module.Weather(client)
        report = await weather.forecast(city="Bergen", days=3)
        raw = await client.call_tool("forecast", {"city": "Bergen", "days": 3})
        assert msgspec.to_builtins(report) == raw.structured_content
        assert type(report) is module.ForecastOutput
        assert len((await weather.forecast(city="Bergen")).rain) == 2  # the server's default
        with pytest.raises(ToolFailed):
            await weather.forecast(city="Bergen", days=0)
        assert await weather.echo_all(text="x") == await client.call_tool("echo-all", {"text": "x"})
        assert await weather.prompts.greet(name="Ada") == await client.get_prompt(
            "greet", {"name": "Ada"}
        )
        assert await weather.resources.config() == await client.read_resource("config://app")
        both = await weather.templates.logs(day="a b", level="x")
        assert both == await client.read_resource("logs://a%20b?level=x")
        assert await weather.templates.logs(day="a") == await client.read_resource("logs://a")
        assert (await weather.completions.greet("name", "Ad")).values == ["Ada"]


def office() -> Server:
    """A server whose calls become tasks, which ask and report progress."""
    tasks = Tasks(poll_interval=0.1)
    server = Server("office", "1", extensions=[tasks])

    class Answer(msgspec.Struct):
        sure: bool

    class Receipt(msgspec.Struct):
        number: int
        sure: bool

    @server.tool(options=[tasks.optional])
    async def order(number: int, ctx: Context) -> Receipt:
        if number < 0:
            raise ValueError("no such number")
        await ctx.progress(1, 2, "asking")
        answer = await ctx.elicit("Sure?", Answer)
        return Receipt(number, bool(answer.content and answer.content.sure))

    return server


@pytest.mark.parametrize("extensions", [[], [ClientTasks()]], ids=["plain", "tasks"])
async def test_calls_that_ask_or_become_tasks_equal_raw_calls(extensions: list[Any]) -> None:
    asked: list[str] = []

    async def sure(question: Any) -> types.ElicitResult:
        asked.append(question.message)
        return types.ElicitResult(action="accept", content={"sure": True})

    async with Client(office(), extensions=extensions, on_elicit=sure) as client:
        tools = [types.to_wire(each) for each in await client.list_tools()]
        module = load(text_of("office", tools=tools))
        typed = module.Office(client)
        receipt = await typed.order(number=3)
        raw = await client.call_tool("order", {"number": 3})
        assert msgspec.to_builtins(receipt) == raw.structured_content
        assert (receipt.number, receipt.sure, asked) == (3, True, ["Sure?", "Sure?"])
        with pytest.raises(ToolFailed):
            await typed.order(number=-1)


async def test_a_tool_that_has_changed_since_it_was_locked_is_refused() -> None:
    server = weather_server()
    async with Client(server) as client:
        lists = await listed(client)
    lists["tools"][0]["description"] = "Forecast the weather, as it was."
    del lists["tools"][0]["inputSchema"]["properties"]["days"]
    async with Client(server) as client:
        module = load(text_of(**lists))
        weather = module.Weather(client, locked=True)
        with pytest.raises(module.ToolChanged) as refused:
            await weather.forecast(city="Bergen")
        assert "'forecast' was locked on 2026-11-28, and has changed" in str(refused.value)
        assert ": description, inputSchema; `mcp-bindgen client --check`" in str(refused.value)
        assert (await weather.echo_all(text="x")).text == "x"
        assert (await module.Weather(client).forecast(city="Bergen")).city == "Bergen"


async def test_a_tool_that_is_gone_is_refused() -> None:
    async with Client(weather_server()) as client:
        module = load(text_of(tools=[tool("old")]))
        with pytest.raises(module.ToolChanged, match="'old' was locked on 2026-11-28, and is gone"):
            await module.Weather(client, locked=True).old()


# ---- text of the server


def test_text_of_the_server_stays_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = [*tool_lists.HOSTILE, SECRET]
    described = [
        tool(f"t{n}", {"x": {"type": "string", "description": text}}, description=text)
        for n, text in enumerate(texts)
    ]
    prompts = [
        {"name": text, "description": text, "arguments": [{"name": text, "description": text}]}
        for text in texts
    ]
    resources = [{"uri": text, "name": text, "description": text} for text in texts]
    templates = [{"uriTemplate": text, "name": text, "description": text} for text in texts]
    named = [tool(text) for text in texts]
    text = text_of(
        tools=[*described, *named],
        prompts=prompts,
        resources=resources,
        resourceTemplates=templates,
    )
    module = load(text)
    assert not (tmp_path / "owned").exists()
    wires = {each.value for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Constant)}
    assert wires >= {*texts}
    for n, said in enumerate(texts):
        shown = inspect.getdoc(getattr(module.Weather, f"t{n}"))
        assert " ".join((shown or "").split()).startswith(" ".join(said.split())[:200])


@pytest.mark.wide
def test_hostile_schemas_are_typed_or_said_to_be_loose() -> None:
    tools: list[Any] = [*tool_lists.FIFTY]
    module = load(text_of(tools=tools))
    methods = [name for name in vars(module.Weather) if not name.startswith("_")]
    assert len(methods) == len(tools) + 1  # with `using`


@pytest.mark.parametrize(
    ("wires", "names"),
    [
        (["a-b", "a_b", "aB"], ["a_b", "a_b_", "a_b__"]),
        (["class", "match", "self", "using"], ["class_", "match_", "self_", "using_"]),
        (["list", "str", "types"], ["list_", "str_", "types_"]),
        (["1st", "!!!", "__init__", "_call"], ["n1st", "unnamed", "init", "call"]),
        (["天气", "\ufb01nd", "a.b/c"], ["天气", "find", "a_b_c"]),
        (["x" * 200], ["x" * 60]),
    ],
)
def test_every_name_becomes_a_method(wires: list[str], names: list[str]) -> None:
    lists = lists_of(tools=[tool(wire) for wire in wires])
    assert [each.name for each in lists.tools] == names
    load(text_of(tools=[tool(wire) for wire in wires]))


def test_types_of_two_tools_never_share_a_name() -> None:
    nested = {"type": "object", "properties": {"x": {"type": "string"}}}
    one = tool("get", {"a": {"$ref": "#/$defs/Output"}})
    one["inputSchema"]["$defs"] = {"Output": nested}
    other = tool("get_input", outputSchema={**EMPTY, "properties": {"y": {"type": "string"}}})
    weather = tool("weather", outputSchema={**EMPTY, "properties": {"y": {"type": "string"}}})
    text = text_of(name="weather_output", tools=[one, other, weather])
    classes = [each.name for each in ast.parse(text).body if isinstance(each, ast.ClassDef)]
    assert len({*classes}) == len(classes)
    load(text)


def test_parameters_never_share_a_name() -> None:
    (one,) = lists_of(tools=[tool("t", {"a-b": {}, "a_b": {}, "self": {}})]).tools
    assert [each.name for each in one.params or ()] == ["a_b", "a_b_", "self_"]
    prompt = {"name": "p", "arguments": [{"name": "a-b"}, {"name": "a_b"}, {"name": "self"}]}
    (one_prompt,) = lists_of(prompts=[prompt]).prompts
    assert [each.name for each in one_prompt.params] == ["a_b", "a_b_", "self_"]


# ---- what no type says


def test_a_place_without_a_type_is_named() -> None:
    schema, *_ = tool_lists.UNTYPED["nested"]
    lists = lists_of(tools=[{"name": "t", "inputSchema": schema}])
    assert lists.places == ["t: input.x.y: Python cannot tell its objects apart"]
    text = text_of(tools=[{"name": "t", "inputSchema": schema}])
    assert "    # not typed: input.x.y: Python cannot tell its objects apart\n" in text


def test_a_tool_whose_schema_cannot_be_read_takes_any_arguments() -> None:
    lists = lists_of(tools=[{"name": "t", "inputSchema": {"type": 3}}])
    assert lists.tools[0].params is None
    assert "t: input: " in lists.places[0]
    assert "async def t(self, arguments: Mapping[str, Any]) -> ToolResult:" in text_of(
        tools=[{"name": "t", "inputSchema": {"type": 3}}]
    )


def test_a_template_with_other_expressions_takes_a_uri() -> None:
    text = text_of(resourceTemplates=[{"uriTemplate": "x://{a:3}{/b*}", "name": "x"}])
    assert "    # not typed: the expressions of x://{a:3}{/b*}\n" in text
    assert "async def x(\n        self, uri: str\n" in text


def test_items_without_a_name_are_left_out() -> None:
    lists = lists_of(tools=[{"inputSchema": {}}, tool("t")])
    assert [each.wire for each in lists.tools] == ["t"]
    assert lists.left_out == ("lists.json:1:12: it has no name",)


# ---- the official SDK


class Session:
    """What a client asks of the session of the official SDK."""

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        result = type("Result", (), {})()
        result.is_error, result.structured_content = name == "bad", {"y": arguments["x"]}
        result.content = []
        return result


async def test_a_client_may_call_through_a_session_of_the_official_sdk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sdk = ModuleType("mcp")
    names = ("CallToolResult", "GetPromptResult", "TextContent")
    sdk.__dict__.update(ClientSession=Session, types=type("types", (), dict.fromkeys(names, int)))
    monkeypatch.setitem(sys.modules, "mcp", sdk)
    output = {**EMPTY, "properties": {"y": {"type": "integer"}}, "required": ["y"]}
    tools = [tool(name, {"x": {"type": "integer"}}, outputSchema=output) for name in ("a", "bad")]
    text = text_of(target="mcp", tools=tools)
    assert "mcp_runtime" not in text
    module = load(text)
    weather = module.Weather(Session())
    assert (await weather.a(x=3)).y == 3
    with pytest.raises(module.ToolFailed, match="bad: the tool failed and gave no text"):
        await weather.bad(x=3)


# ---- lists of real servers


@pytest.mark.wide
def test_the_lists_of_real_servers_are_typed_strictly(shared: Path, tmp_path: Path) -> None:
    """All of them, with the places that have no exact type; mypy and pyright are silent."""
    paths = tool_lists.of_real_servers(shared)
    places: list[str] = []
    tools = 0
    for path in paths:
        name = f"{path.stem.replace('-', '_')}_client"
        data = path.read_bytes()
        lists = read_client(data, path.name, class_names(name))
        assert not lists.left_out
        places += lists.places
        tools += len(lists.tools)
        lock = lock_of(data, path.name, "runtime", "2026-11-28")
        client = ClientText(name, lists, "a server", lock.tool_digests(), lock.seen)
        (tmp_path / f"{name}.py").write_text(write_client(client), "utf-8")
    assert (len(paths), tools, len(places)) == (32, 534, 11)  # as the page says
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    python = ("--pythonpath", sys.executable)
    for command in (["mypy", "--strict", "."], ["basedpyright", "-p", ".", *python]):
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout
