"""The day a revision appears, played: what is asked, and that the answers are all it takes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support import successor
from tests.support.successor import BEFORE, KINDS, MIXED, MODEL, NAME, PROGRAM, Kind

PROJECT: Final = ("codegen", "generated", "runtime", "schema", "templates", "tests")
FORGIVEN: Final = "tests/runtime/client/test_forgiven_servers.py"
PACKAGES: Final = ("codegen", "generated", "runtime")


class Copy:
    """A copy of the project, and what runs in it."""

    def __init__(self, root: Path, at: Path) -> None:
        self.at = at
        for folder in PROJECT:
            shutil.copytree(root / folder, at / folder)
        shutil.copy(root / "pyproject.toml", at)
        self.env = {**os.environ, "PYTHONPATH": os.pathsep.join(str(at / p) for p in PACKAGES)}

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *args],
            cwd=self.at,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def verbs(self, *lines: Sequence[str]) -> list[tuple[int, str, str]]:
        """Run verbs one after another in one process: the status, output and errors of each."""
        ran = self.run("tests.support.lines", json.dumps(lines))
        assert ran.returncode == 0, ran.stderr
        return [(status, output, errors) for status, output, errors in json.loads(ran.stdout)]

    def python(self) -> dict[str, str]:
        """The digest of every Python source that is written by hand."""
        return {
            str(path.relative_to(self.at)): hashlib.sha256(path.read_bytes()).hexdigest()
            for folder in ("codegen", "runtime", "templates")
            for path in sorted((self.at / folder).rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }


@dataclass
class Day:
    """The copy with everything answered and generated, what was asked, and the sources before."""

    copy: Copy
    rows: list[successor.Asked]
    confirmed: int
    before: dict[str, str]


PULL: Final = ("pull", NAME, "--from", "official/schema.ts")


def published(root: Path, at: Path, kind: Kind) -> Copy:
    """A copy of the project, with the files of a revision of that kind beside it."""
    copy = Copy(root, at)
    official = at / "official"
    official.mkdir()
    for file, text in kind.split(kind.text(root / "schema")).items():
        (official / file).write_text(text, "utf-8")
    return copy


def answer(copy: Copy, kind: Kind) -> None:
    """Answer all questions, and generate."""
    table = copy.at / "schema" / "decisions.toml"
    table.write_text(successor.answers(kind, table.read_text("utf-8")), "utf-8")
    made = copy.run("mcp_bindgen", "generate", "--confirm")
    assert made.returncode == 0, made.stderr


def answered(root: Path, at: Path, kind: Kind) -> Copy:
    """A copy that speaks a revision of that kind."""
    copy = published(root, at, kind)
    pulled = copy.run("mcp_bindgen", *PULL)
    assert pulled.returncode == 0, pulled.stderr
    answer(copy, kind)
    return copy


def played(root: Path, at: Path, kind: Kind) -> Day:
    """The day a revision of that kind appears, to the end."""
    copy = published(root, at, kind)
    before = copy.python()
    pulled, compared, inspected, refused = copy.verbs(
        [*PULL], ["diff", BEFORE, NAME], ["inspect", NAME], ["generate"]
    )
    assert pulled[0] == 0, pulled
    assert_is_seen(compared, inspected)
    status, _, questions = refused
    assert status == 2, refused
    answer(copy, kind)
    return Day(copy, successor.asked(questions), successor.confirmations(questions), before)


def assert_is_seen(compared: tuple[int, str, str], inspected: tuple[int, str, str]) -> None:
    """What is new can be seen by name before anything is answered."""
    assert compared[0] in (0, 1), compared
    assert inspected[0] == 0, inspected
    assert re.search(r"Methods \((21|22|23)\)", inspected[1])


@pytest.fixture(scope="module")
def mixed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Day:
    return played(root, tmp_path_factory.mktemp("project"), MIXED)


def test_every_decision_is_asked_for_at_once_with_its_place(mixed: Day) -> None:
    paths = {path for _, row in mixed.rows for path in re.findall(r'^path = "(.*)"$', row, re.M)}
    assert paths == MIXED.rows.keys() | {"checksum/get"}
    places = [re.match(rf"schema/({NAME}|{BEFORE})/schema\.ts:\d", q) for q, _ in mixed.rows]
    assert all(places), [row for row, at in zip(mixed.rows, places, strict=True) if at is None]


def test_bindings_methods_steps_and_diff_work(mixed: Day) -> None:
    copy = mixed.copy
    assert copy.python() == mixed.before
    checked, differences, inspected = copy.verbs(
        ["generate", "--check"],
        ["diff", BEFORE, NAME, "--format", "json"],
        ["inspect", NAME, "VideoContent"],
    )
    assert checked[0] == 0, checked
    assert differences[0] == 1, differences
    assert "checksum/get" in differences[1]
    assert "class VideoContent" in inspected[1]


SCRIPT: Final = """
from mcp_wire import LATEST, load
from mcp_wire.convert import Context, convert

told = Context(client_info={"name": "c", "version": "1"}, client_capabilities={})
ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
up = convert(ask, "2024-11-05", LATEST, context=told)
meta = up.message["params"]["_meta"]
assert meta["io.modelcontextprotocol/protocolVersion"] == LATEST == "2027-03-11", meta
assert convert(up.message, LATEST, "2024-11-05", context=told) == (ask, ())

video = {"type": "video", "data": "", "mimeType": "video/mp4"}
hints = {"type": "text", "text": "a", "annotations": {"changedAt": "now"}}
body = {"resultType": "complete", "content": [video, hints]}
type = load(LATEST, "calls_msgspec").RESULTS["tools/call"]
load(LATEST, "models_msgspec").from_wire(type, body)
result = {"jsonrpc": "2.0", "id": 1, "result": body}
down = convert(result, LATEST, "2026-07-28", method="tools/call")
assert down.message["result"]["content"] == [
    {"type": "text", "text": "[video: video/mp4]"},
    {"type": "text", "text": "a", "annotations": {"lastModified": "now"}},
], down
assert [loss.path for loss in down.losses] == ["$.result.content[0]"]

asked = "elicitation/create"
left = convert({"action": "dismiss"}, LATEST, "2025-11-25", method=asked)
assert left == ({"action": "cancel"}, ())
assert load(LATEST).METHODS["checksum/get"].results == ("ChecksumResult",)
"""


def test_messages_travel_to_it_and_back(mixed: Day) -> None:
    copy = mixed.copy
    (copy.at / "messages.py").write_text(SCRIPT, "utf-8")
    ran = copy.run("messages")
    assert ran.returncode == 0, ran.stderr


RESTRUCTURED: Final = """
from mcp_wire import LATEST, load
from mcp_wire.convert import convert

def result(**members):
    return {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", **members}}

def carried(message, *way):
    found = convert(message, *way, method="tools/call")
    return found.message, [loss.path for loss in found.losses]

def text(value):
    return {"type": "text", "text": value}

def json(value, **more):
    return {"type": "json", "value": value, **more}

up, down = ("2026-07-28", LATEST), (LATEST, "2026-07-28")
old = result(content=[text("a"), text("b")], structuredContent=None, isError=False)
new = result(outputs=[text("a"), text("b"), json(None)], isError=False)
assert carried(old, *up) == (new, [])
assert carried(new, *down) == (old, [])
assert carried(result(content=[]), *up) == (result(outputs=[]), [])
assert carried(result(outputs=[]), *down) == (result(content=[]), [])

whole = ["$.result.outputs"]
for outputs, structured in (
    ([json(1), text("a")], 1), ([text("a"), json(1), json(2)], 1), ([text("a"), json(1, x=2)], 1),
):
    wanted = result(content=[text("a")], structuredContent=structured)
    assert carried(result(outputs=outputs), *down) == (wanted, whole), outputs
squatters = result(outputs=[text("a")], content=3, structuredContent={})
wanted = result(content=[text("a")]), ["$.result.content", "$.result.structuredContent"]
assert carried(squatters, *down) == wanted

link = {"type": "resource_link", "uri": "a://b", "name": "b"}
oldest, losses = carried(result(outputs=[link]), LATEST, "2024-11-05")
assert oldest["result"]["content"] == [text("b: a://b")]
assert losses == whole
"""


OUTPUTS: Final = """
from mcp_wire import LATEST
from mcp_wire.convert import convert

def result(**members):
    return {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", **members}}

def carried(message, *way, method="tools/call"):
    found = convert(message, *way, method=method)
    return found.message, [loss.path for loss in found.losses]

def output(audience, **value):
    kind = {"content": "content", "structuredContent": "structured"}[next(iter(value))]
    return {"audience": audience, "format": kind, **value}

up, down = ("2026-07-28", LATEST), (LATEST, "2026-07-28")
blocks = [
    {"type": "text", "text": "a"},
    {"type": "image", "data": "", "mimeType": "image/png"},
    {"type": "audio", "data": "", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "a://b", "name": "b"},
    {"type": "resource", "resource": {"uri": "a://b", "text": "c"}},
]
for members in ({}, {"isError": True}, {"isError": False}):
    for structured in ((), (None,), ({"a": 1},), (0.0,)):
        for content in ([], *([block] for block in blocks), blocks):
            old = result(content=content, **members)
            new = result(outputs=[output("assistant", content=content)], **members)
            for value in structured:
                old["result"]["structuredContent"] = value
                new["result"]["outputs"].append(output("programmatic", structuredContent=value))
            assert carried(old, *up) == (new, [])
            assert carried(new, *down) == (old, [])
            assert carried(carried(new, LATEST, "2025-11-25")[0], "2025-11-25", LATEST)[0]

lost = ["$.result.outputs"]
one = output("assistant", content=[blocks[0]])
for more, members in (
    ([output("user", content=blocks)], {}),
    ([output("io.example/view", structuredContent=1)], {}),
    ([output("assistant", structuredContent=1)], {"structuredContent": 1}),
    ([output("programmatic", structuredContent=1, x=2)], {"structuredContent": 1}),
):
    wanted = result(content=[blocks[0]], **members), lost
    assert carried(result(outputs=[one, *more]), *down) == wanted, more

request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "_meta": {
    "io.modelcontextprotocol/protocolVersion": LATEST,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
}, "requestedOutputs": [{"audience": "assistant", "format": "content"}]}}
assert carried(request, *down)[1] == ["$.params.requestedOutputs"]
"""
ASKING: Final = """
import asyncio

from mcp_runtime import Client, Context, Server, types
from mcp_runtime.errors import NotOffered

NEWEST, BEFORE, OLDER = "2027-03-11", "2026-07-28", "2025-11-25"
PICK, EVENT = "files/pick", "notifications/events/occurred"
server = Server("s", "1")

@server.on("events/poll", capability="events")
async def poll(params, context):
    return {}

@server.subscription("eventTopics")
def accept(wanted, principal):
    return [topic for topic in wanted if topic != "secret"]

@server.tool
async def pick(ctx: Context) -> list[str]:
    by_name = await ctx.ask(PICK, {"prompt": "one"})
    typed = await ctx.calls.pick_files(types.PickFilesRequestParams(prompt="two"))
    assert isinstance(by_name, types.PickFilesResult)
    return [*by_name.files, *typed.files]

async def talk(revision, *, can_pick=True):
    heard, done = [], asyncio.Event()
    client = Client(server, revisions=[revision])
    if can_pick:
        @client.on(PICK)
        async def answer(params: types.PickFilesRequestParams) -> types.PickFilesResult:
            return types.PickFilesResult(files=[f"file:///{params.prompt}"])

    @client.on(EVENT)
    def occurred(params: types.EventOccurredNotificationParams) -> None:
        heard.append(params.topic)
        done.set()

    async with client:
        try:
            result = await client.call_tool("pick")
            said = result.structured_content or result.content[0].text
        except Exception as error:
            said = type(error).__name__, getattr(error, "data", None)
        if revision == NEWEST:
            async with client.listen(more={"eventTopics": ["a", "secret"]}) as changes:
                assert types.to_wire(changes.served) == {"eventTopics": ["a"]}
                for topic in ("secret", "a"):
                    params = types.EventOccurredNotificationParams(topic=topic)
                    server.publish(EVENT, params, "eventTopics", topic)
                await done.wait()
    return said, heard

picked = {"result": ["file:///one", "file:///two"]}
assert asyncio.run(talk(NEWEST)) == (picked, ["a"])
lacks = "RemoteError", {"requiredCapabilities": {"files": {}}}
assert asyncio.run(talk(NEWEST, can_pick=False)) == (lacks, ["a"])
for older in (BEFORE, OLDER):
    said = f"files/pick: the client does not offer it in {older}"
    assert asyncio.run(talk(older)) == (said, []), older
"""
CONVERTED: Final = {"asking": ASKING, "restructured": RESTRUCTURED, "outputs": OUTPUTS}
"""What is converted on the day of a successor, by its name."""
PROGRAMS: Final = {"digests": "tests.support.successor_digests"}
"""The conversations that one successor has beside those of all, by its name."""


@pytest.mark.wide
def test_its_tests_pass(mixed: Day) -> None:
    """The laws of the models and of the steps find the new revision by themselves."""
    tests = ("tests/laws/test_steps.py", "tests/laws/test_differential.py", FORGIVEN)
    laws_hold(mixed.copy, *tests)


def laws_hold(copy: Copy, *tests: str) -> None:
    options = ("-q", "-p", "no:cacheprovider", "-m", "not long", "-k", NAME)
    ran = copy.run("pytest", *options, *tests)
    assert ran.returncode == 0, ran.stdout[-3000:]
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed, ran.stdout
    assert int(passed[1]) > 10


@pytest.mark.wide
def test_a_new_project_speaks_it_and_its_tests_pass(mixed: Day) -> None:
    """The page of the sample is of an extension, whose rows do not name the new revision yet."""
    copy, home = mixed.copy, mixed.copy.at / "weather"
    made = copy.run("mcp_bindgen", "new", "weather", "--ui")
    assert made.returncode == 0, made.stderr
    copy.env["PYTHONPATH"] += f"{os.pathsep}{home / 'src'}"
    tests = (str(home / "tests" / f"test_{name}.py") for name in ("page", "server"))
    ran = copy.run("pytest", "-q", "-c", str(home / "pyproject.toml"), *tests)
    assert ran.returncode == 0, ran.stdout[-3000:]
    alone = copy.run("mcp_bindgen", "new", "alone", "--revisions", NAME)
    assert (alone.returncode, f"{BEFORE} would be lacking" in alone.stderr) == (2, True)


# ---- four successors, each with conversations

TALK: Final = "tests.support.successor_talk"
OLDER: Final = "2025-11-25"
OLDEST: Final = ("2024-11-05", "2025-03-26", "2025-06-18")


def command(project: Path, *args: str) -> list[str]:
    """Runs the talk with the packages of a project."""
    path = os.pathsep.join(str(project / folder) for folder in (*PACKAGES, "."))
    return ["env", f"PYTHONPATH={path}", sys.executable, "-m", TALK, *args]


@contextmanager
def serving(project: Path, count: int) -> Iterator[list[str]]:
    """The URLs of as many servers of that project."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command(project, "serve", str(count)), text=True, **pipes) as process:
        assert process.stdout is not None
        try:
            yield [process.stdout.readline().strip() for _ in range(count)]
        finally:
            process.communicate()


@dataclass(frozen=True)
class Conversation:
    """The revision agreed on, what was not as it promises, and the messages by direction."""

    agreed: str
    faults: dict[str, object]
    wire: list[tuple[str, str]]


def conversations(client: Path, server: Path, offers: Sequence[str]) -> list[Conversation]:
    """The talks of clients of one project with servers of another, over HTTP and then stdio.

    `offers` are the revisions that each client speaks, by commas.
    """
    stdio = json.dumps(command(server, "stdio"))
    with serving(server, len(offers)) as urls:
        over_http = [part for pair in zip(urls, offers, strict=True) for part in pair]
        over_stdio = [part for offer in offers for part in (stdio, offer)]
        ran = subprocess.run(
            command(client, "ask", *over_http, *over_stdio),
            cwd=client,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return [Conversation(*json.loads(line)) for line in ran.stdout.splitlines()]


def written_readers(copy: Copy) -> None:
    """Writes the models of the independent readers: without steps, and unknown members refused.

    In the older revision a JSON Schema has keywords that its declaration does not list.
    """
    for folder, unknown, revisions in (
        ("strict", "reject", (BEFORE, NAME)),
        ("lax", "keep", (*OLDEST, OLDER)),
    ):
        options = ("--models", "dataclass", "--unknown", unknown, "--out", folder)
        made = copy.run("mcp_bindgen", "generate", *revisions, *options)
        assert made.returncode == 0, made.stderr


def read_again(copy: Copy, talk: Conversation) -> list[dict[str, Any]]:
    """What a reader that has nothing of the runtime takes each message of a conversation for."""
    package = "strict" if talk.agreed in (BEFORE, NAME) else "lax"
    ran = subprocess.run(
        [sys.executable, "-m", "tests.support.independent_reader", package, talk.agreed],
        cwd=copy.at,
        env={**os.environ, "PYTHONPATH": str(copy.at)},
        input="".join(json.dumps(message) + "\n" for message in talk.wire),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return [json.loads(line) for line in ran.stdout.splitlines()]


WIDE: Final = {"again", "outputs"}
"""What `make wide` plays; `make long` plays the others."""
SPOKEN: Final = [
    pytest.param(name, marks=pytest.mark.wide if name in WIDE else pytest.mark.long)
    for name in KINDS
]


@pytest.mark.parametrize("name", SPOKEN)
def test_a_successor_is_spoken_when_its_rows_are_answered(
    name: str, root: Path, tmp_path: Path
) -> None:
    """Both ends of each conversation are real: this project is the older peer."""
    kind = KINDS[name]
    day = played(root, tmp_path, kind)
    sys.stdout.write(f"{name}: {len(day.rows)} rows asked, {day.confirmed} answers confirmed\n")
    assert len(day.rows) <= kind.asked
    assert day.copy.python() == day.before
    new = day.copy.at
    if name in CONVERTED:
        (new / "messages.py").write_text(CONVERTED[name], "utf-8")
        ran = day.copy.run("messages")
        assert ran.returncode == 0, ran.stderr
        laws_hold(day.copy, "tests/laws/test_steps.py")
    every_revision_is_served(day.copy)
    if name == "methods":
        names_serve_each_other(day.copy)
    if name in PROGRAMS:
        ran = day.copy.run(PROGRAMS[name])
        assert ran.returncode == 0, ran.stderr
    written_readers(day.copy)
    both = f"{BEFORE},{NAME}"
    among_new = {both: NAME, BEFORE: BEFORE, f"{OLDER},{BEFORE}": BEFORE, OLDER: OLDER}
    old_client = {revision: revision for revision in (*OLDEST, OLDER, BEFORE)}
    new_client = {both: BEFORE, f"{OLDER},{NAME}": OLDER, ",".join((*OLDEST, NAME)): OLDEST[-1]}
    for client, server, offers in (
        (new, new, among_new),
        (root, new, old_client),
        (new, root, new_client),
    ):
        talks = conversations(client, server, list(offers))
        assert [talk.agreed for talk in talks] == [*offers.values()] * 2
        assert [talk.faults for talk in talks] == [{}] * len(talks)
        for talk in talks:
            messages = read_again(day.copy, talk)
            faults = [message["fault"] for message in messages if message["fault"]]
            assert not faults, (talk.agreed, faults[:5])
            if name == "outputs" and talk.agreed == NAME:
                assert_all_is_in_outputs(messages)


def every_revision_is_served(copy: Copy) -> None:
    """Clients of the five older revisions and of the successor, each alone, with a new server."""
    ran = copy.run(TALK, "each")
    assert ran.returncode == 0, ran.stderr[-3000:]
    talks = [Conversation(*json.loads(line)) for line in ran.stdout.splitlines()]
    older = sorted(path.name for path in (copy.at / "schema").glob("20*"))
    assert [talk.agreed for talk in talks] == older
    assert older[-1] == NAME
    assert len(older) == 6
    assert [talk.faults for talk in talks] == [{}] * 6


def names_serve_each_other(copy: Copy) -> None:
    """Handlers and callers of the old and the new names meet, before and after handlers move."""
    program, table = "tests.support.successor_methods", copy.at / "schema" / "decisions.toml"
    rows = table.read_text("utf-8")
    before, after = (f'[handlers]\nrevision = "{name}"' for name in (BEFORE, NAME))
    for head in (after, before):
        table.write_text(rows.replace(before, head), "utf-8")
        assert copy.run("mcp_bindgen", "generate").returncode == 0
        ran = copy.run(program)
        assert ran.returncode == 0, (head, ran.stderr)


def assert_all_is_in_outputs(messages: list[dict[str, Any]]) -> None:
    """What the tools of the pair server give, as a reader of the newest revision alone finds it."""
    calls = [m for m in messages if m["method"] == "tools/call" and m["position"] == "result"]
    complete = [m["value"] for m in calls if m["value"]["resultType"] == "complete"]
    outputs = [output for value in complete for output in value["outputs"]]
    assert {**PROGRAM, "structuredContent": {"total": 5}} in outputs
    kinds = {block["type"] for output in outputs for block in output.get("content", ())}
    assert kinds == {"text", "image", "audio", "resource", "resource_link"}
    failed = [value for value in complete if value.get("isError")]
    assert all(value["outputs"][0]["content"][0]["text"] for value in failed)
    assert failed
    tools = [m for m in messages if m["method"] == "tools/list" and m["position"] == "result"]
    variants = {tool["name"]: tool["outputVariants"] for m in tools for tool in m["value"]["tools"]}
    assert variants["sound"] == [MODEL]
    assert [variant["format"] for variant in variants["add"]] == ["content", "structured"]
    assert variants["add"][1]["schema"]["required"] == ["total"]
