"""Two tool surfaces, each the result of `tools/list`, compared by the engine of two schemas.

A tool becomes a method: its calls travel to the server with the input inside, its results come back
with the output. Rules, verdicts and witnesses are those of schemas, but for what is said of
bindings: here that is code which calls the tools through types made of the old surface, so it
writes inputs and reads outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final, TypeAlias

from mcp_bindgen.compare.changes import ITEM, VALUE, Change, Spot
from mcp_bindgen.compare.judge.rules import BY_KEY, Refuses, Rule, Verdict
from mcp_bindgen.compare.judge.verdicts import Finding, judge
from mcp_bindgen.compare.judge.witness import Witness
from mcp_bindgen.compare.pairing import pair
from mcp_bindgen.compare.report.report import Report, Side
from mcp_bindgen.compare.travel import TO_SERVER, Route, of_method, result_route
from mcp_bindgen.errors import InputError
from mcp_bindgen.ir.model import Arr, Field, Lit, Method, Prim, Ref, Schema, Struct, Type
from mcp_bindgen.limits import MAX_TOOLS
from mcp_bindgen.source import Source
from mcp_bindgen.tools.json_document import Node, read_documents
from mcp_bindgen.tools.json_schema import Reader, Remark, canonical, quoted

__all__ = ["Surface", "compare", "listed", "read", "surface"]

_ARGUMENTS: Final = "arguments"
_STRUCTURED: Final = "structuredContent"
_WRAPPERS: Final = (" params", " result")
_HEADS: Final = {_ARGUMENTS: "input", _STRUCTURED: "output"}
_TEXTS: Final = ("title", "description")
_SUBJECTS: Final = {
    "title": "text",
    "description": "text",
    "annotations": "annotation",
    "execution": "execution",
    "unread": "unread",
}
"""What a rule calls the keyword, or the member of a tool; others are `meta`."""
_SCHEMAS: Final = ("inputSchema", "outputSchema")
_KEYS: Final = {
    ("method", "added", ""): ("tool", "added", ""),
    ("method", "removed", ""): ("tool", "removed", ""),
}
_OUTPUTS: Final = {
    ("member", "added", "required"): ("tool", "output added", ""),
    ("member", "removed", "required"): ("tool", "output removed", ""),
}
_PUNCTUATION: Final = re.compile(r"[\W_]+")
_NO_TASKS: Final = ("taskSupport", "forbidden")
"""What an absent member of `execution` means."""
_ONE_SIDED: Final = (
    ("member", "added"),
    ("member", "removed"),
    ("tool", "output added"),
    ("tool", "output removed"),
)
_OF_NAMES: Final = ("declaration", "shape")
"""Subjects of changes that only concern names, which schemas of tools have not."""
_OF_REFUSED: Final[dict[Refuses, Verdict]] = {
    "nothing": "holds",
    "some": "if used",
    "all": "breaks",
}

_Found: TypeAlias = dict[tuple[str, str], Remark]


@dataclass(frozen=True, slots=True)
class Surface:
    """The tools of one side: `side` has them as methods, `reader` what types do not say,
    `members` the rest of each tool by its name and path."""

    side: Side
    reader: Reader
    members: _Found


def read(data: bytes, path: str) -> Surface:
    """The tools that `listed` finds in a file, and what their schemas mean.

    Raises as that does, and InputError for schemas that are none.
    """
    return surface(listed(data, path), path)


def listed(data: bytes, path: str) -> list[Node]:
    """The tools of a file: the result of `tools/list`, the whole response, a list of tools, or
    several pages, one after the other or in a list.

    Raises InputError for what is none of these, for a list that goes on and for two tools of one
    name; SchemaError for a file that is too large or too deep.
    """
    documents = read_documents(data, path)
    if not documents:
        raise InputError(f"{path}: is empty", remedy="Give the result of `tools/list`.")
    pages = [page for document in documents for page in _pages(document)]
    tools = [tool for page in pages for tool in _of_page(page)]
    if len(tools) > MAX_TOOLS:
        raise documents[0].error(f"lists {len(tools)} tools, more than {MAX_TOOLS}")
    if pages[-1].members.get("nextCursor") is not None:
        raise (
            pages[-1]
            .below("nextCursor")
            .error("the list of tools goes on", remedy="Put the next pages into the file too.")
        )
    _require_distinct(tools)
    return tools


def surface(tools: Sequence[Node], path: str) -> Surface:
    """What the schemas of these tools mean. Raises InputError for schemas that are none."""
    reader, methods = Reader(), [_method(tool) for tool in tools]
    shapes = [shape for tool in tools for shape in _shapes(tool, reader)]
    digest = sha256(canonical([tool.value for tool in tools]).encode()).hexdigest()
    schema = Schema(path, path, digest, (*shapes, *reader.declarations), tuple(methods))
    rest = {(quoted(r.tool), r.path): r for tool in tools for r in _rest(tool)}
    source = tools[0].document.source if tools else Source(b"", path)
    return Surface(Side(path, schema, source), reader, rest)


def _pages(document: Node) -> Iterator[Node]:
    """The parts of a document that list tools: results, or lists of tools themselves."""
    if "error" in document.members:
        raise document.below("error").error(
            "is an error response, which lists no tools", remedy="Ask the server again."
        )
    inner = [document.below(number) for number in range(len(document.items))]
    if "result" in document.members:
        yield document.below("result")
    elif inner and not any("name" in each.members for each in inner):
        yield from (page for each in inner for page in _pages(each))
    else:
        yield document


def _of_page(page: Node) -> Iterator[Node]:
    if not isinstance(page.value, list):
        told = "the result of `tools/list`, with `tools` in it, or a list of tools"
        page = page.require(lambda v: "tools" in page.members, told).below("tools")
    page.require(lambda v: isinstance(v, list), "a list of tools")
    for number in range(len(page.items)):
        tool = page.below(number)
        tool.require(lambda v: isinstance(v, dict), "a tool (an object)")
        if "name" not in tool.members or "inputSchema" not in tool.members:
            tool.document.wrong(tool.path, "a tool with `name` and `inputSchema`", tool.value)
        tool.below("name").require(lambda v: isinstance(v, str) and v != "", "the name of a tool")
        yield tool


def _require_distinct(tools: Iterable[Node]) -> None:
    names: set[str] = set()
    for tool in tools:
        if tool.value["name"] in names:
            raise tool.below("name").error(f"a second tool is called {tool.value['name']!r}")
        names.add(tool.value["name"])


# ---- a tool as a method


def _call(name: str) -> str:
    return f"{quoted(name)} call"


def _result(name: str) -> str:
    return f"{quoted(name)} result"


def _method(tool: Node) -> Method:
    name = tool.value["name"]
    return Method(name, _call(name), "request", "client-to-server", None, False, Ref(_result(name)))


def _shapes(tool: Node, reader: Reader) -> Iterator[Struct]:
    """A call of the tool and its result, as they are on the wire."""
    name = tool.value["name"]
    given = reader.read(tool.below("inputSchema"), name, "input")
    params = _shape(f"{quoted(name)} params", tool, {"name": Lit(name), _ARGUMENTS: given})
    yield params
    yield _shape(_call(name), tool, {"method": Lit("tools/call"), "params": Ref(params.name)})
    result: dict[str, Type] = {"content": Arr(Prim("unknown"))}
    if tool.members.get("outputSchema") is not None:
        result[_STRUCTURED] = reader.read(tool.below("outputSchema"), name, "output")
    yield _shape(_result(name), tool, result)


def _shape(name: str, tool: Node, members: dict[str, Type]) -> Struct:
    fields = tuple(
        Field(wire, wire, type, required=True, at=_at(tool, wire)) for wire, type in members.items()
    )
    return Struct(name, fields, None, place=tool.value["name"], at=tool.at)


def _at(tool: Node, wire: str) -> int:
    place = {_ARGUMENTS: "inputSchema", _STRUCTURED: "outputSchema"}.get(wire)
    return tool.below(place).at if place in tool.members else tool.at


def _rest(tool: Node) -> Iterator[Remark]:
    """What a tool has beside its name and its schemas; annotations and the like one by one."""
    name = tool.value["name"]
    for member, value in tool.members.items():
        if member in ("name", *_SCHEMAS):
            continue
        inner = tool.below(member)
        if member in ("annotations", "execution") and isinstance(value, dict):
            for key, found in inner.members.items():
                if (key, found) != _NO_TASKS:
                    path = f"{name}.{member}.{key}"
                    yield Remark(path, member, canonical(found), inner.below(key).at, name, "")
        else:
            yield Remark(f"{name}.{member}", member, canonical(value), inner.at, name, "")


# ---- two surfaces


def compare(old: Surface, new: Surface) -> Report:
    """The findings of two surfaces, by tool: those of the new side in its order, then the rest."""
    found = list(_renames(list(_judged(old, new))))
    found += _told(old, new, {f.change.path for f in found if f.change.key[:2] in _ONE_SIDED})
    unique = {_identity(finding): finding for finding in found}
    names = [m.name for m in (*new.side.schema.methods, *old.side.schema.methods)]
    order = {name: number for number, name in reversed(list(enumerate(names)))}
    ordered = sorted(unique.values(), key=lambda finding: order[finding.methods[0]])
    return Report(old.side, new.side, tuple(ordered))


def _renames(found: list[Finding]) -> Iterator[Finding]:
    """The findings, a tool that is gone and one that came told of each other where their names are
    the same but for case and punctuation."""
    lone = [f for f in found if f.change.key in _KEYS.values()]
    alike: dict[str, list[Finding]] = {}
    for finding in lone:
        alike.setdefault(_PUNCTUATION.sub("", finding.change.path).casefold(), []).append(finding)
    likely: dict[str, str] = {}
    for twins in alike.values():
        if [f.change.key[1] for f in twins] in (["removed", "added"], ["added", "removed"]):
            names = [f.change.path for f in twins]
            likely |= {names[0]: names[1], names[1]: names[0]}
    for finding in found:
        other = likely.get(finding.change.path) if finding.change.key in _KEYS.values() else None
        note = f"perhaps renamed: see {other}"
        yield replace(finding, change=replace(finding.change, note=note)) if other else finding


def _identity(finding: Finding) -> tuple[str, ...]:
    """A finding is told once, though several alternatives have it."""
    change = finding.change
    return finding.rule.id, change.path, change.old.text, change.new.text


def _judged(old: Surface, new: Surface) -> Iterator[Finding]:
    """What the engine finds, in words of tools."""
    for finding in judge(old.side.schema, new.side.schema):
        if finding.change.key[0] not in _OF_NAMES and not _is_doubled(finding.change):
            yield _in_words_of_tools(finding)


def _is_doubled(change: Change) -> bool:
    """Whether it is told of the place where a shape stands that stands in itself too."""
    return (
        change.owner is not None
        and change.owner[0] == change.owner[1]
        and change.owner[0].endswith("#")
    )


def _in_words_of_tools(finding: Finding) -> Finding:
    change = finding.change
    outputs = _OUTPUTS if change.steps == (_STRUCTURED,) else {}
    key = outputs.get(change.key) or _KEYS.get(change.key, change.key)
    rule = BY_KEY[key]
    told = replace(change, key=key, path=_path(change, change.path), was=_path(change, change.was))
    witnesses = finding.witnesses
    if key in _KEYS.values():
        spots = [replace(s, text=told.path if s.text else "") for s in (told.old, told.new)]
        told = replace(told, old=spots[0], new=spots[1])
        witnesses = tuple(map(_unknown_tool, witnesses))
    bindings = _of_callers(rule, finding)
    return replace(finding, rule=rule, change=told, bindings=bindings, witnesses=witnesses)


def _path(change: Change, path: str) -> str:
    """A path whose first step is the wrapping member says `input` or `output` instead."""
    wrapped = change.owner is not None and change.owner[1].endswith(_WRAPPERS)
    if path and wrapped and change.steps[0] in _HEADS:
        steps = "".join(s if s in (ITEM, VALUE) else f".{s}" for s in change.steps)
        rest = steps[len(change.steps[0]) + 1 :]
        return f"{path[: -len(steps)]}.{_HEADS[change.steps[0]]}{rest}"
    return path


def _unknown_tool(witness: Witness) -> Witness:
    return replace(witness, path="$.params.name", expected="a tool that it has")


def _of_callers(rule: Rule, finding: Finding) -> Verdict:
    """The verdict for code that calls the tool, by whether it writes or reads the place."""
    refused = rule.new_refuses if TO_SERVER in finding.ways else rule.old_refuses
    lost = rule.key[:2] in (("member", "removed"), ("tool", "removed"))
    return rule.source if refused != "nothing" or lost else "holds"


# ---- what no type says


def _told(old: Surface, new: Surface, lone: set[str]) -> Iterator[Finding]:
    """Differences of texts, hints, and keywords that are not read; `lone` are the paths of members
    that one side lacks, so that nothing more is to be said of what lies in them."""
    twins = {m.name: m for m in new.side.schema.methods}
    both = {m.name: (m, twins[m.name]) for m in old.side.schema.methods if m.name in twins}
    names = pair(old.side.schema, new.side.schema).names
    ids = {id: _renamed(id, names) for id in old.reader.seen}
    common = set(ids.values()) & new.reader.seen
    unread = _moved(old.reader.unread, ids), new.reader.unread
    texts = _moved(old.reader.texts, ids), new.reader.texts
    for before, after in (
        *_differing(old.members, new.members),
        *_differing(*({k: r for k, r in t.items() if k[0] in common} for t in texts)),
        *_differing(*unread),
    ):
        remark = before or after
        assert remark is not None
        if remark.tool in both and not any(_lies_in(remark.path, path) for path in lone):
            key = "unread" if remark.part and remark.keyword not in _TEXTS else remark.keyword
            yield _remarked(
                both[remark.tool], BY_KEY["tool", _SUBJECTS.get(key, "meta"), ""], before, after
            )


def _moved(found: _Found, ids: dict[str, str]) -> _Found:
    return {(ids[id], keyword): remark for (id, keyword), remark in found.items()}


def _renamed(id: str, names: dict[str, str]) -> str:
    """The id that a place of the old side has on the new one, by the shape that it lies in."""
    for cut in range(len(id), 0, -1):
        if id[:cut] in names and _lies_in(id, id[:cut]):
            return names[id[:cut]] + id[cut:]
    return id


def _lies_in(path: str, outer: str) -> bool:
    return path.startswith(outer) and path[len(outer) :][:1] in ("", ".", "[", "{", "|")


def _differing(before: _Found, after: _Found) -> Iterator[tuple[Remark | None, Remark | None]]:
    for key in before | after:
        a, b = before.get(key), after.get(key)
        if a is None or b is None or a.value != b.value:
            yield a, b


def _remarked(
    twins: tuple[Method, Method], rule: Rule, before: Remark | None, after: Remark | None
) -> Finding:
    """A finding without witness: nothing here says what the keyword means."""
    remark = after or before
    assert remark is not None
    spots = [Spot(_spelled(r), at=r.at) if r else Spot() for r in (before, after)]
    change = Change(rule.key, remark.path, spots[0], spots[1], method=twins[0].name)
    client, server = _OF_REFUSED[rule.new_refuses], _OF_REFUSED[rule.old_refuses]
    if remark.part == "output":
        client, server = server, client
    doubtful = (client, server) != ("holds", "holds")
    return Finding(
        rule,
        change,
        client,
        server,
        rule.source,
        tuple(_routes(*twins, remark.part)),
        unproved=f"`{remark.keyword}` is not interpreted, so no message is known to be refused"
        if doubtful
        else "",
    )


def _spelled(remark: Remark) -> str:
    return f"{remark.keyword}: {remark.value}" if remark.part else remark.value


def _routes(old: Method, new: Method, part: str) -> Iterator[Route]:
    for route in of_method(old, new):
        if part == "output":
            yield from result_route(old, new, route.ways)
        else:
            yield route
