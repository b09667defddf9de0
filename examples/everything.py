"""A server with one of everything: every kind of content, question, change and error.

    python examples/everything.py                      # on standard input and output
    python examples/everything.py 127.0.0.1:8000       # over HTTP, at /mcp

The official conformance suite asks for the tools, resources and prompts of these names.
"""

from __future__ import annotations

import asyncio
import sys
import zlib
from dataclasses import dataclass
from typing import Annotated, Any

from mcp_runtime import Audio, Context, Embedded, Header, Image, Server, ToolError, types
from mcp_runtime.errors import RpcError
from mcp_runtime.extensions.tasks import Tasks

tasks = Tasks(poll_interval=0.5)
server = Server(
    "everything",
    "1.0.0",
    extensions=[tasks],
    title="Everything",
    instructions="Each tool shows one feature of the protocol.",
)


# ---- pictures and sound, made on the spot


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")


def _png() -> bytes:
    """One red dot."""
    head = (1).to_bytes(4, "big") * 2 + bytes((8, 2, 0, 0, 0))
    data = zlib.compress(b"\x00\xff\x00\x00")
    chunks = _chunk(b"IHDR", head) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _wav() -> bytes:
    """A tenth of a second of silence."""
    data = bytes(1600)
    form = (16).to_bytes(4, "little") + bytes((1, 0, 1, 0)) + (8000).to_bytes(4, "little")
    form += (16000).to_bytes(4, "little") + bytes((2, 0, 16, 0))
    body = b"WAVEfmt " + form + b"data" + len(data).to_bytes(4, "little") + data
    return b"RIFF" + len(body).to_bytes(4, "little") + body


PNG, WAV = _png(), _wav()


# ---- content


@server.tool
async def test_simple_text() -> str:
    """Returns a text."""
    return "This is a simple text response for testing."


@server.tool
async def test_image_content() -> Image:
    """Returns a picture."""
    return Image(PNG, "image/png")


@server.tool
async def test_audio_content() -> Audio:
    """Returns a sound."""
    return Audio(WAV, "audio/wav")


@server.tool
async def test_embedded_resource() -> Embedded:
    """Returns a resource inside its result."""
    text = "This is an embedded resource content."
    return Embedded("test://embedded-resource", text, "text/plain")


@server.tool
async def test_multiple_content_types() -> list[str | Image | Embedded]:
    """Returns a text, a picture and a resource."""
    data = '{"test":"data","value":123}'
    return [
        "Multiple content types test:",
        Image(PNG, "image/png"),
        Embedded("test://mixed-content-resource", data, "application/json"),
    ]


@server.tool
async def test_error_handling() -> str:
    """Fails, and says why to the model."""
    raise ToolError("This tool intentionally returns an error for testing")


@dataclass
class Sum:
    """What two numbers come to."""

    total: int


@server.tool(annotations=types.ToolAnnotations(read_only_hint=True))
async def add(a: int, b: int) -> Sum:
    """Adds two numbers, and returns the sum as data."""
    return Sum(a + b)


@server.tool
async def query(region: Annotated[str, Header("Region")], text: str = "") -> str:
    """Over HTTP the region is told in a header too."""
    return f"{region}: {text}"


@server.raw_tool(
    types.Tool(
        name="json_schema_2020_12_tool",
        description="Takes what a JSON Schema says, as it is.",
        input_schema=types.from_wire(
            types.ToolInputSchema,
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "$defs": {
                    "address": {
                        "$anchor": "addressDef",
                        "type": "object",
                        "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                    }
                },
                "properties": {
                    "name": {"type": "string"},
                    "address": {"$ref": "#/$defs/address"},
                    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                    "phone": {"type": "string"},
                    "email": {"type": "string"},
                },
                "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
                "if": {
                    "properties": {"contactMethod": {"const": "phone"}},
                    "required": ["contactMethod"],
                },
                "then": {"required": ["phone"]},
                "else": {"required": ["email"]},
                "additionalProperties": False,
            },
        ),
    )
)
async def json_schema_2020_12_tool(arguments: dict[str, Any], ctx: Context) -> str:
    return f"Called with {', '.join(sorted(arguments)) or 'nothing'}."


# ---- while it works


@server.tool
async def test_tool_with_progress(ctx: Context) -> str:
    """Tells how far it is."""
    for done in (0, 50, 100):
        await ctx.progress(done, 100, f"{done} of 100")
        await asyncio.sleep(0.05)
    return "Done."


@server.tool
async def test_tool_with_logging(ctx: Context) -> str:
    """Logs what it does."""
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(text)
        await asyncio.sleep(0.05)
    return "Logged."


@server.tool
async def test_logging_tool(ctx: Context) -> str:
    """Logs, where the client wants to hear it."""
    await ctx.info("This is a log message")
    return "Logged."


@server.tool
async def test_reconnection(ctx: Context) -> str:
    """Lets go of the connection, and answers when the client comes again."""
    await ctx.pause(retry=0.1)
    await asyncio.sleep(0.2)
    return "Reconnected."


# ---- questions


@dataclass
class Account:
    """Who somebody is."""

    username: str
    email: str


@server.tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Asks the client's model."""
    answer = await ctx.sample(prompt, max_tokens=100)
    content = answer.content
    text = content.text if isinstance(content, types.TextContent) else str(content)
    return f"LLM response: {text}"


@server.tool
async def test_elicitation(message: str, ctx: Context) -> str:
    """Asks the user to fill in a form."""
    answer = await ctx.elicit(message, Account)
    return f"User response: {answer.action} {answer.content}"


@server.tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Asks with defaults of every type."""
    statuses = ["active", "inactive", "pending"]
    form = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": statuses, "default": "active"},
            "verified": {"type": "boolean", "default": True},
        },
    }
    answer = await ctx.elicit("Please check these values", form)
    return f"{answer.action}: {answer.content}"


def _options(stem: str) -> list[str]:
    return [f"{stem}{number}" for number in (1, 2, 3)]


def _titled(stem: str) -> list[dict[str, str]]:
    return [{"const": value, "title": value.capitalize()} for value in _options(stem)]


@server.tool
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Asks for choices in every form."""
    names = ["Option One", "Option Two", "Option Three"]
    form = {
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": _options("option")},
            "titledSingle": {"type": "string", "oneOf": _titled("value")},
            "legacyEnum": {"type": "string", "enum": _options("opt"), "enumNames": names},
            "untitledMulti": {
                "type": "array",
                "items": {"type": "string", "enum": _options("option")},
            },
            "titledMulti": {"type": "array", "items": {"anyOf": _titled("value")}},
        },
    }
    answer = await ctx.elicit("Please choose", form)
    return f"{answer.action}: {answer.content}"


@server.tool
async def test_missing_capability(ctx: Context) -> str:
    """Cannot do without the client's model."""
    answer = await ctx.sample("Say something.", max_tokens=10)
    return answer.model


@server.tool
async def test_streaming_elicitation(ctx: Context) -> str:
    """Tells how far it is, then asks."""
    await ctx.progress(1, 2, "about to ask")
    answer = await ctx.elicit("Who are you?", Account)
    return answer.action


def _field(name: str, kind: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}


@server.tool
async def test_input_required_result_elicitation(ctx: Context) -> str:
    """Asks for a name."""
    answer = await ctx.elicit("What is your name?", _field("name", "string"), key="user_name")
    return f"Hello, {(answer.content or {}).get('name', 'stranger')}!"


@server.tool
async def test_input_required_result_sampling(ctx: Context) -> str:
    """Asks the model for a capital."""
    question = "What is the capital of France?"
    answer = await ctx.sample(question, max_tokens=100, key="capital_question")
    return f"The model {answer.model} has answered."


@server.tool
async def test_input_required_result_list_roots(ctx: Context) -> str:
    """Asks where the client works."""
    roots = await ctx.roots(key="client_roots")
    return f"{len(roots)} roots"


@server.tool
async def test_input_required_result_request_state(ctx: Context) -> str:
    """Asks for a confirmation; what it knows so far travels with the question."""
    await ctx.elicit("Please confirm", _field("ok", "boolean"), key="confirm")
    return "state-ok"


@server.tool
async def test_input_required_result_tampered_state(ctx: Context) -> str:
    """Asks for a confirmation; what travels with it cannot be changed."""
    await ctx.elicit("Please confirm", _field("ok", "boolean"), key="confirm")
    return "state-ok"


@server.tool
async def test_input_required_result_multiple_inputs(ctx: Context) -> str:
    """Asks three things at once."""
    name, greeting, roots = await asyncio.gather(
        ctx.elicit("What is your name?", _field("name", "string"), key="user_name"),
        ctx.sample("Generate a greeting", max_tokens=50, key="greeting"),
        ctx.roots(key="client_roots"),
    )
    return f"{name.action}, {greeting.model}, {len(roots)} roots"


@server.tool
async def test_input_required_result_multi_round(ctx: Context) -> str:
    """Asks one thing after the other."""
    name = await ctx.elicit("Step 1: What is your name?", _field("name", "string"), key="step1")
    question = "Step 2: What is your favorite color?"
    color = await ctx.elicit(question, _field("color", "string"), key="step2")
    return f"{name.content} {color.content}"


@server.tool
async def test_input_required_result_capabilities(ctx: Context) -> str:
    """Asks only for what the client can do."""
    answers: list[str] = []
    if "sampling" in ctx.client_capabilities:
        answers.append((await ctx.sample("Say something.", max_tokens=50)).model)
    if "elicitation" in ctx.client_capabilities:
        answers.append((await ctx.elicit("Who are you?", Account)).action)
    return ", ".join(answers)


# ---- changes


@server.tool
async def test_trigger_tool_change() -> str:
    """Adds a tool and takes it away."""

    async def passing() -> str:
        """Is there for a moment."""
        return ""

    server.add_tool(passing)
    server.remove_tool("passing")
    return "The tools have changed, twice."


@server.tool
async def test_trigger_prompt_change() -> str:
    """Adds a prompt and takes it away."""

    async def passing() -> str:
        """Is there for a moment."""
        return ""

    server.add_prompt(passing)
    server.remove_prompt("passing")
    return "The prompts have changed, twice."


# ---- resources


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text that stays as it is."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """A picture that stays as it is."""
    return PNG


@server.resource("test://watched-resource", mime_type="text/plain")
def watched_resource() -> str:
    """A text worth watching."""
    return "Watched."


@server.resource("test://template/{id}/data", mime_type="application/json")
def template_data(id: str) -> str:
    """Data under an id."""
    return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


# ---- prompts


@server.prompt
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@server.prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.completion("test_prompt_with_arguments", "arg1")
def arg1_values(value: str) -> list[str]:
    known = ["test", "testing", "tested", "paris", "party"]
    return [each for each in known if each.startswith(value)]


@server.prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Embedded | str]:  # noqa: N803 - its name on the wire
    """A prompt with a resource inside."""
    text = "Embedded resource content for testing."
    resource = Embedded(resourceUri, text, "text/plain")
    return [resource, "Please process the embedded resource above."]


@server.prompt
def test_prompt_with_image() -> list[Image | str]:
    """A prompt with a picture."""
    return [Image(PNG, "image/png"), "Please analyze the image above."]


@server.prompt
async def test_input_required_result_prompt(ctx: Context) -> str:
    """Asks what the prompt shall be about."""
    question = "What context should the prompt use?"
    answer = await ctx.elicit(question, _field("context", "string"), key="user_context")
    return f"Context: {(answer.content or {}).get('context', 'none')}"


# ---- tasks


@server.tool(options=[tasks.never])
async def greet(name: str) -> str:
    """Greets at once."""
    return f"Hello, {name}!"


@server.tool(options=[tasks.optional])
async def slow_compute(seconds: float, label: str = "work") -> str:
    """Takes its time, as a task where the client has tasks."""
    await asyncio.sleep(seconds)
    return f"{label}: done after {seconds:g} s"


@server.tool(options=[tasks.required])
async def failing_job() -> str:
    """A task that fails, and says why to the model."""
    await asyncio.sleep(1)
    raise ToolError("This job intentionally fails for testing")


@server.tool(options=[tasks.optional])
async def protocol_error_job() -> str:
    """A task that ends in an error of the protocol."""
    raise RpcError(-32603, "This job intentionally ends in a protocol error")


@server.tool(options=[tasks.optional])
async def confirm_delete(filename: str, ctx: Context) -> str:
    """A task that asks before it goes on."""
    answer = await ctx.elicit(f"Delete {filename}?", _field("confirm", "boolean"), key="confirm")
    return f"deleted {filename}" if answer.accepted else f"kept {filename}"


@server.tool(options=[tasks.optional])
async def multi_input(ctx: Context) -> str:
    """A task that asks two things at the same time."""
    name, color = await asyncio.gather(
        ctx.elicit("What is your name?", _field("name", "string"), key="name"),
        ctx.elicit("What is your favorite color?", _field("color", "string"), key="color"),
    )
    return f"{name.content} {color.content}"


_NAME = "What is your name?"


async def _has_a_name(params: types.CallToolRequestParams, ctx: Context) -> bool:
    await ctx.elicit(_NAME, _field("name", "string"), key="user_name")
    return True


@server.tool(options=[tasks.when(_has_a_name)])
async def test_tool_with_task(ctx: Context) -> str:
    """Asks for a name, and becomes a task with it."""
    answer = await ctx.elicit(_NAME, _field("name", "string"), key="user_name")
    return f"Hello, {(answer.content or {}).get('name', 'nobody')}!"


if __name__ == "__main__":
    server.run(http=sys.argv[1] if len(sys.argv) > 1 else None)
