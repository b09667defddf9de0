"""Tolerances: obvious faults of real peers, repaired in received messages and counted.

Each message is first decoded exactly. Only if that fails, it is repaired and decoded again: its
text (`text_repairs`), nulls in place of absent members, members named in the revision's table, list
items of a wrong type. docs/TOLERANCES.md has the reasons, and the switch of each tolerance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
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

from msgspec import Struct, UnsetType

from mcp_runtime.core.terms.role import Role
from mcp_runtime.core.wire.text_repairs import TEXT_REPAIRS
from mcp_runtime.limits import PROBLEMS
from mcp_runtime.option_checks import texts
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
    plain_annotation,
    revision,
)

Types: TypeAlias = tuple[Any, ...]
"""The possible types of a value: the arms of a union."""

NULL: Final = "null"
"""Null in place of an optional member whose type has no null."""
TEXT_ARGUMENT: Final = "text_argument"
"""A tool argument as JSON text, if its schema takes no text."""
NULL_ARGUMENT: Final = "null_argument"
"""Null for an optional tool argument, if its schema takes no null."""
ITEM: Final = "item"
"""An item of a result's list which does not fit its type."""
OF_ARGUMENTS: Final = frozenset((TEXT_ARGUMENT, NULL_ARGUMENT))
"""The tolerances switched off by `strict_arguments`."""
_LONGEST: Final = 200
"""The most characters of a peer's text shown in a problem."""
_SHOWN_PATHS: Final = 5


def names_of_tolerances() -> frozenset[str]:
    """Return the names allowed in `strict`: the rules, and the members in the revisions' tables."""
    rows = (row.member for each in ALL for row in revision(each).tolerances if not _is_items(row))
    return frozenset((*TEXT_REPAIRS, NULL, ITEM, *OF_ARGUMENTS, *rows))


def strictness(strict: bool | Collection[str]) -> frozenset[str]:
    """Return the names of the tolerances switched off. Raises ValueError for an unknown name."""
    if isinstance(strict, bool):
        return names_of_tolerances() if strict else frozenset()
    return frozenset(texts("strict", strict, sorted(names_of_tolerances())))


class Problem(Struct, frozen=True):
    """A list item left out of a result, as it does not fit its type.

    `name` is its `name` or `uri` if this is text; `path` is the place of the fault in the result,
    and `reason` the fault.
    """

    method: str
    name: str
    path: str
    reason: str

    def __str__(self) -> str:
        named = f" ({self.name!r})" if self.name else ""
        return f"{self.method}: {self.path}{named}: {self.reason}"


class Tolerances:
    """The tolerances of one role for one peer, with counts of their use; `strict` are switched off.

    Most peers need none, so the counters are made on first use.
    """

    __slots__ = ("_counts", "_problems", "_reader", "_strict", "watch")

    def __init__(self, reader: Role, strict: Collection[str] = ()) -> None:
        self._counts: Counter[str] | None = None
        self._problems: dict[Problem, None] | None = None
        self.watch: Callable[[str, str, bool], object] | None = None
        """Called at each use, with the name of the tolerance, the place of the repair, and a flag:
        True for the first use for this peer, or for an item not left out before."""
        self._reader = reader
        self._strict = frozenset(strict)

    @property
    def counts(self) -> Counter[str]:
        """The number of uses of each tolerance."""
        if self._counts is None:
            self._counts = Counter()
        return self._counts

    @property
    def problems(self) -> dict[Problem, None]:
        """The items left out, in order."""
        if self._problems is None:
            self._problems = {}
        return self._problems

    def repair_text(self, text: bytes) -> tuple[bytes, list[str]]:
        """Return a malformed message after repairs of its text, and the names of the repairs."""
        repaired: list[str] = []
        for name, repair in TEXT_REPAIRS.items():
            if name not in self._strict and (fixed := repair(text)) != text:
                text = fixed
                repaired.append(name)
        return text, repaired

    def decode(
        self, revision: Revision, position: Position, method: str, raw: bytes
    ) -> tuple[bytes, Any]:
        """Decode a body; return its JSON after repairs, and its model.

        Raises DecodeError if no repair helps.
        """
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
        """Remove the nulls of absent members from a body of type `of`, and count them.

        None if there are none. Raises DecodeError if the body is not JSON.
        """
        if NULL in self._strict:
            return None
        body, paths = without_nulls((of,), parse(raw))
        if not paths:
            return None
        self.count(NULL, _list_paths(paths))
        return latest.encode(body)

    def rows(self, revision: Revision, position: Position) -> list[Tolerance]:
        """Return the rows of the revision's table for this role and position."""
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
        """Record an item left out."""
        is_new = problem not in self.problems and len(self.problems) < PROBLEMS
        if is_new:
            self.problems[problem] = None
        self._note(ITEM, str(problem), is_new=is_new)

    def _note(self, name: str, what: str, *, is_new: bool) -> None:
        self.counts[name] += 1
        if self.watch is not None:
            self.watch(name, what, is_new)


class _Repair:
    """The repair of one body which does not fit its type."""

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
        """Apply one repair after the other until the body fits; return its JSON and its model.

        `fault` is the error of the original body. Raises the first DecodeError without a repair.
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
        """Apply the next repair to `_body` at each step, as long as a `_fault` is left."""
        if self._owner.forgives(NULL):
            self._body, paths = without_nulls(of, self._body)
            if paths:
                self._used.append((NULL, _list_paths(paths)))
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
        """Set the value of each row named by the fault; each row is used once.

        A null counts as absent too, under both names, unless the tolerance of nulls is off.
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
        """Return the fitting items of a member; None if all fit, or if too few do."""
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
        """Return the error of an item none of these types accepts, else None.

        If the item's constants single out one type, the error is the error of that type.
        """
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
    """Return the members of a body; None if it is not an object, or not JSON."""
    with suppress(DecodeError):
        body = parse(raw)
        return cast("dict[str, Any]", body) if isinstance(body, dict) else None
    return None


def _list_paths(paths: list[str]) -> str:
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
    """Return the row for an error.

    If the error is that no type of a union accepts an object, any row may fit.
    """
    is_whole = error.path == "$" and error.found == "object"
    near = (row for row in rows if is_whole or error.path == f"$.{row.member}")
    faults = ((row, _fault(body, row.member, null_is_absent=null_is_absent)) for row in near)
    return next((row for row, fault in faults if fault in row.forgives), None)


def _fault(body: Mapping[str, Any], member: str, *, null_is_absent: bool) -> str | None:
    value = body.get(member)
    if value is None and (null_is_absent or member not in body):
        return "absent"
    return "negative" if isinstance(value, (int, float)) and value < 0 else None


# ---- parsed JSON by its generated types


class Member(NamedTuple):
    """A declared member of a class. `const` is its value if its type has only one."""

    types: Types
    is_optional: bool
    takes_null: bool
    const: object = None


def without_nulls(of: Types, value: Any, path: str = "$") -> tuple[Any, list[str]]:
    """Remove the nulls of absent members from `value`; return it and the paths of the nulls.

    A null means absence if its member is optional and its type has no null; entries of maps count
    as optional. Nulls stay in unknown members, in members of type Any, and where one arm of a union
    takes null.
    """
    if value.__class__ is list:
        # Items keep their nulls: only a member can be absent. Nothing is copied without a repair.
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
    """True if one of the classes declares a member with this name."""
    return any(name in _table(arm) for arm in _arms_of(of))


def items_of(of: Types, body: Mapping[str, Any], name: str) -> Types:
    """Return the item types of an array member of `body`, each arm of a union on its own."""
    declared = [each[name] for each in _members(of, body) if name in each]
    return tuple(_arms_of(_inside(tuple(t for each in declared for t in each.types), list)))


def _means_absent(declared: list[Member], values: Types) -> bool:
    """True if null is no valid value of a member, or of a map's entry."""
    if not declared:
        return bool(values) and not any(map(_takes_null, _arms_of(values)))
    return all(each.is_optional and not each.takes_null for each in declared)


def _members(of: Types, value: Mapping[str, Any]) -> list[Mapping[str, Member]]:
    """Return the members of each class whose constants match the object."""
    tables = [table for arm in _arms_of(of) if (table := _table(arm))]
    return [table for table in tables if _may_be(table, value)]


def _may_be(table: Mapping[str, Member], value: Mapping[str, Any]) -> bool:
    return all(
        value.get(name) == member.const
        for name, member in table.items()
        if member.const is not None
    )


def _inside(of: Types, container: type) -> Types:
    """Return the types of an array's items, or of the values of a map."""
    arms = (arm for arm in _arms_of(of) if get_origin(arm) is container)
    return tuple(get_args(arm)[-1] for arm in arms)


def _arms_of(of: Types) -> Iterator[Any]:
    for each in of:
        yield from _arms(each)


@cache
def _arms(annotation: Any) -> tuple[Any, ...]:
    """Return the arms of a type, those of nested unions included, without annotations."""
    plain = plain_annotation(annotation)
    origin = get_origin(plain)
    if origin is Annotated:
        return _arms(get_args(plain)[0])
    if origin in (Union, UnionType):
        return tuple(arm for each in get_args(plain) for arm in _arms(each))
    return (plain,)


@cache
def _table(cls: Any) -> Mapping[str, Member]:
    """Return the declared members of a class by wire name; none for any other type."""
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
