"""Tolerances: faults of real peers whose meaning is plain, repaired in what they send, and counted.

Every message is read exactly first. Only where that fails is it repaired and read again: its text
(`text_repairs`), nulls that stand for absent members, members that a row of the revision's table
names, items of a list that do not fit. docs/TOLERANCES.md says why, and how to refuse each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
)

from msgspec import UnsetType

from mcp_runtime.core.role import Role
from mcp_runtime.core.text_repairs import TEXT_REPAIRS
from mcp_runtime.errors import texts
from mcp_runtime.limits import PROBLEMS
from mcp_runtime.revisions import (
    ALL,
    DecodeError,
    Position,
    Revision,
    Tolerance,
    kind,
    latest,
    model_members,
    parse,
    revision,
    unmarked,
)

Types: TypeAlias = tuple[Any, ...]
"""The types that may stand at one place: the arms of a union."""

NULL: Final = "null"
"""Null in place of an optional member that cannot be null."""
TEXT_ARGUMENT: Final = "text_argument"
"""An argument of a tool as JSON text, where its schema takes no text."""
NULL_ARGUMENT: Final = "null_argument"
"""Null for an optional argument of a tool, where its schema takes no null."""
ITEM: Final = "item"
"""An item of a list in a result that does not fit its type."""
OF_ARGUMENTS: Final = frozenset((TEXT_ARGUMENT, NULL_ARGUMENT))
"""The tolerances that `strict_arguments` takes back."""
_LONGEST: Final = 200
"""Characters of a peer's text that are shown."""
_SHOWN_PATHS: Final = 5


def names_of_tolerances() -> frozenset[str]:
    """What `strict` may name: the rules, and the members that rows of the tables repair."""
    rows = (row.member for each in ALL for row in revision(each).tolerances if not _is_items(row))
    return frozenset((*TEXT_REPAIRS, NULL, ITEM, *OF_ARGUMENTS, *rows))


def strictness(strict: bool | Collection[str]) -> frozenset[str]:
    """The names of the tolerances that are off. Raises ValueError for an unknown one."""
    if isinstance(strict, bool):
        return names_of_tolerances() if strict else frozenset()
    return frozenset(texts("strict", strict, sorted(names_of_tolerances())))


@dataclass(frozen=True, slots=True)
class Problem:
    """An item of a list that does not fit its type, and was left out.

    `name` is its `name` or `uri` where it has one that is text; `path` and `reason` say where in
    the result it is at fault, and why.
    """

    method: str
    name: str
    path: str
    reason: str

    def __str__(self) -> str:
        named = f" ({self.name!r})" if self.name else ""
        return f"{self.method}: {self.path}{named}: {self.reason}"


class Tolerances:
    """What one role forgives one peer; `strict` names what it does not.

    Most peers need none, so what is counted is made when it is first asked for.
    """

    __slots__ = ("_counts", "_problems", "_reader", "_strict", "watch")

    def __init__(self, reader: Role, strict: Collection[str] = ()) -> None:
        self._counts: Counter[str] | None = None
        self._problems: dict[Problem, None] | None = None
        self.watch: Callable[[str, str, bool], object] | None = None
        """Sees the name of each tolerance that was used, what was repaired, and whether that is new
        for this peer: the first of its kind, or an item that was not left out before."""
        self._reader = reader
        self._strict = frozenset(strict)

    @property
    def counts(self) -> Counter[str]:
        """How often each tolerance was used."""
        if self._counts is None:
            self._counts = Counter()
        return self._counts

    @property
    def problems(self) -> dict[Problem, None]:
        """The items that were left out."""
        if self._problems is None:
            self._problems = {}
        return self._problems

    def repair_text(self, text: bytes) -> tuple[bytes, list[str]]:
        """The text of a message that is malformed, after repairs; and their names."""
        repaired: list[str] = []
        for name, repair in TEXT_REPAIRS.items():
            if name not in self._strict and (fixed := repair(text)) != text:
                text = fixed
                repaired.append(name)
        return text, repaired

    def decode(
        self, revision: Revision, position: Position, method: str, raw: bytes
    ) -> tuple[bytes, Any]:
        """The body with its repairs, and its model. Raises DecodeError if nothing repairs it."""
        try:
            return raw, revision.decode(position, method, raw)
        except DecodeError as error:
            fault = error
        if raw == b"null" and position == "params" and NULL not in self._strict:
            model = revision.decode_no_params(method)
            self.count(NULL, "$")
            return b"", model
        repair = _Repair(self, revision, position, method, raw)
        return repair.run(fault)

    def without_nulls(self, of: object, raw: bytes) -> bytes | None:
        """A body of a type without the nulls of absent members; None if it has none.

        They are counted. Raises DecodeError for what is not JSON.
        """
        if NULL in self._strict:
            return None
        body, paths = without_nulls((of,), parse(raw))
        if not paths:
            return None
        self.count(NULL, _listed(paths))
        return latest.encode(body)

    def rows(self, revision: Revision, position: Position) -> list[Tolerance]:
        """The rows of the revision's table that apply here."""
        return [
            row
            for row in revision.tolerances
            if row.reader == self._reader and row.position == position
            if (ITEM if _is_items(row) else row.member) not in self._strict
        ]

    def forgives(self, name: str) -> bool:
        return name not in self._strict

    def count(self, name: str, what: str) -> None:
        self._note(name, what, is_new=not self.counts[name])

    def leave_out(self, problem: Problem) -> None:
        """Remembers an item that was left out."""
        is_new = problem not in self.problems and len(self.problems) < PROBLEMS
        if is_new:
            self.problems[problem] = None
        self._note(ITEM, str(problem), is_new=is_new)

    def _note(self, name: str, what: str, *, is_new: bool) -> None:
        self.counts[name] += 1
        if self.watch is not None:
            self.watch(name, what, is_new)


class _Repair:
    """One body that does not fit its type, on its way to one that does."""

    def __init__(
        self, owner: Tolerances, revision: Revision, position: Position, method: str, raw: bytes
    ) -> None:
        self._owner = owner
        self._revision = revision
        self._position: Position = position
        self._method = method
        self._raw = raw
        self._used: list[tuple[str, str]] = []
        self._problems: list[Problem] = []

    def run(self, fault: DecodeError) -> tuple[bytes, Any]:
        """Applies one repair after the other until the body fits.

        Raises the DecodeError that none repairs; `fault` is that of the body as it came.
        """
        body = _object(self._raw)
        if body is None:
            raise fault
        self._body, self._fault = body, fault
        of: Types = (self._revision.type_of(self._position, self._method),)
        for _ in self._repairs(of):
            try:
                raw = latest.encode(self._body)
                model = self._revision.decode(self._position, self._method, raw)
            except DecodeError as error:
                self._fault = error
                continue
            for name, what in self._used:
                self._owner.count(name, what)
            for problem in self._problems:
                self._owner.leave_out(problem)
            return raw, model
        raise self._fault

    def _repairs(self, of: Types) -> Iterator[None]:
        """Repairs `_body` once more each time, for as long as a `_fault` is left."""
        if self._owner.forgives(NULL):
            self._body, paths = without_nulls(of, self._body)
            if paths:
                self._used.append((NULL, _listed(paths)))
                yield
        rows = [
            row
            for row in self._owner.rows(self._revision, self._position)
            if declares(of, row.member)
        ]
        members = [row for row in rows if not _is_items(row)]
        yield from self._with_members(members)
        for row in filter(_is_items, rows):
            if (fitting := self._fitting(of, row)) is not None:
                self._body = {**self._body, row.member: fitting}
                yield
        yield from self._with_members(members)

    def _with_members(self, rows: list[Tolerance]) -> Iterator[None]:
        """Sets the value of each row that names the fault; the row is used up.

        A null is absent here too, unless that tolerance is off; it is counted under both names.
        """
        nulls = self._owner.forgives(NULL)
        while row := _matching(rows, self._fault, self._body, null_is_absent=nulls):
            rows.remove(row)
            path = f"$.{row.member}"
            if row.member in self._body and self._body[row.member] is None:
                self._used.append((NULL, path))
            self._used.append((row.member, path))
            self._body = {**self._body, row.member: row.value}
            yield

    def _fitting(self, of: Types, row: Tolerance) -> list[object] | None:
        """The items of a member that fit; None if all do, or too few to say anything."""
        types, items = items_of(of, self._body, row.member), self._body.get(row.member)
        if not types or not isinstance(items, list):
            return None
        problems: list[Problem] = []
        fitting: list[object] = []
        for number, item in enumerate(cast("list[object]", items)):
            if (error := self._fault_of(types, item)) is None:
                fitting.append(item)
            else:
                problems.append(self._problem(f"$.{row.member}[{number}]", item, error))
        if not problems or not (fitting or "every item" in row.forgives):
            return None
        self._problems += problems
        return fitting

    def _fault_of(self, types: Types, item: Any) -> DecodeError | None:
        """Why an item is of none of these types, by the one that its constants name if there is."""
        faults: list[DecodeError] = []
        for each in types:
            try:
                self._revision.models.from_wire(each, item)
            except DecodeError as error:
                if not isinstance(item, dict) or _may_be(
                    _table(each), cast("dict[str, object]", item)
                ):
                    faults.append(error)
            else:
                return None
        if len(faults) == 1:
            return faults[0]
        names = " | ".join(getattr(each, "__name__", str(each)) for each in types)
        return DecodeError("$", names, "object" if isinstance(item, dict) else kind(item))

    def _problem(self, place: str, item: Any, error: DecodeError) -> Problem:
        members = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        names = (members.get(key) for key in ("name", "uri", "uriTemplate"))
        name = next((each for each in names if isinstance(each, str)), "")
        reason = f"expected {error.expected}, found {error.found}"
        path = place + error.path.removeprefix("$")
        return Problem(self._method, name[:_LONGEST], path[:_LONGEST], reason[:_LONGEST])


def _is_items(row: Tolerance) -> bool:
    return ITEM in row.forgives


def _object(raw: bytes) -> dict[str, Any] | None:
    """The members of a body; None for what is not an object, or not JSON."""
    with suppress(DecodeError):
        body = parse(raw)
        return cast("dict[str, Any]", body) if isinstance(body, dict) else None
    return None


def _listed(paths: list[str]) -> str:
    more = len(paths) - _SHOWN_PATHS
    shown = ", ".join(path[:_LONGEST] for path in paths[:_SHOWN_PATHS])
    return f"{shown} and {more} more" if more > 0 else shown


def _matching(
    rows: Collection[Tolerance],
    error: DecodeError,
    body: Mapping[str, Any],
    *,
    null_is_absent: bool,
) -> Tolerance | None:
    """The row for an error; in an object that no type of several accepts, any may apply."""
    is_whole = error.path == "$" and error.found == "object"
    near = (row for row in rows if is_whole or error.path == f"$.{row.member}")
    faults = ((row, _fault(body, row.member, null_is_absent=null_is_absent)) for row in near)
    return next((row for row, fault in faults if fault in row.forgives), None)


def _fault(body: Mapping[str, Any], member: str, *, null_is_absent: bool) -> str | None:
    value = body.get(member)
    if value is None and (null_is_absent or member not in body):
        return "absent"
    return "negative" if isinstance(value, (int, float)) and value < 0 else None


# ---- what the generated types say of parsed JSON


class Member(NamedTuple):
    """A member that a class declares. `const` is its only value, if it has but one."""

    types: Types
    is_optional: bool
    takes_null: bool
    const: object = None


def without_nulls(of: Types, value: Any, path: str = "$") -> tuple[Any, list[str]]:
    """`value` without each null that stands for an optional member which cannot be null.

    An entry of a map is optional too. Also the paths of those nulls. Unknown members, and what any
    JSON may stand for, stay as they are; so does a null in a union one arm of which takes it.
    """
    if value.__class__ is list:
        items = _inside(of, list)
        read = [without_nulls(items, item, f"{path}[{i}]") for i, item in enumerate(value)]
        return [item for item, _ in read] if any(nulls for _, nulls in read) else value, [
            at for _, nulls in read for at in nulls
        ]
    if value.__class__ is not dict:
        return value, []
    members, values = _members(of, value), _inside(of, dict)
    kept: dict[str, Any] = {}
    dropped: list[str] = []
    for name, inner in value.items():
        declared = [each[name] for each in members if name in each]
        if inner is None and _means_absent(declared, values):
            dropped.append(f"{path}.{name}")
            continue
        below = tuple(t for each in declared for t in each.types) if declared else values
        kept[name], nulls = without_nulls(below, inner, f"{path}.{name}")
        dropped += nulls
    return (kept, dropped) if dropped else (value, [])


def declares(of: Types, name: str) -> bool:
    """Whether a class that may stand there declares a member."""
    return any(name in _table(arm) for arm in _arms_of(of))


def items_of(of: Types, body: Mapping[str, Any], name: str) -> Types:
    """The types of the items of a member of `body` that is an array: each arm on its own."""
    declared = [each[name] for each in _members(of, body) if name in each]
    return tuple(_arms_of(_inside(tuple(t for each in declared for t in each.types), list)))


def _means_absent(declared: list[Member], values: Types) -> bool:
    """Whether null is no value of a member, or of a map's entry where no class declares it."""
    if not declared:
        return bool(values) and not any(map(_takes_null, _arms_of(values)))
    return all(each.is_optional and not each.takes_null for each in declared)


def _members(of: Types, value: Mapping[str, Any]) -> list[Mapping[str, Member]]:
    """The members of each class that an object may be of, by the constants that it has."""
    tables = [table for arm in _arms_of(of) if (table := _table(arm))]
    return [table for table in tables if _may_be(table, value)]


def _may_be(table: Mapping[str, Member], value: Mapping[str, Any]) -> bool:
    return all(
        value.get(name) == member.const
        for name, member in table.items()
        if member.const is not None
    )


def _inside(of: Types, container: type) -> Types:
    """The types of the items of an array, or of the values of an object without declared names."""
    arms = (arm for arm in _arms_of(of) if get_origin(arm) is container)
    return tuple(get_args(arm)[-1] for arm in arms)


def _arms_of(of: Types) -> Iterator[Any]:
    for each in of:
        yield from _arms(each)


@cache
def _arms(annotation: Any) -> tuple[Any, ...]:
    """The arms of a type: those of unions in it too, without annotations around them."""
    plain = unmarked(annotation)
    origin = get_origin(plain)
    if origin is Annotated:
        return _arms(get_args(plain)[0])
    if origin in (Union, UnionType):
        return tuple(arm for each in get_args(plain) for arm in _arms(each))
    return (plain,)


@cache
def _table(cls: Any) -> Mapping[str, Member]:
    """The declared members of a class by wire name; none for what is no class of the bindings."""
    if not isinstance(cls, type):
        return {}
    return {wire: _member(annotation) for wire, annotation in model_members(cls).items()}


def _takes_null(arm: Any) -> bool:
    return arm is Any or arm is type(None)


def _member(annotation: Any) -> Member:
    arms = _arms(annotation)
    given = tuple(arm for arm in arms if arm is not UnsetType)
    takes_null = any(map(_takes_null, given))
    only = get_args(given[0]) if len(given) == 1 and get_origin(given[0]) is Literal else ()
    const = only[0] if len(only) == 1 and len(given) == len(arms) else None
    return Member(given, len(given) < len(arms), takes_null, const)
