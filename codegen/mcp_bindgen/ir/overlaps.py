"""`[[union]]` rows: which type goes first where several accept the same result of a method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions import Decisions
from mcp_bindgen.ir.model import Method, Ref, Schema, Uni
from mcp_bindgen.ir.unions import arms, disjoint

__all__ = ["ordered_results"]


def ordered_results(schema: Schema, decisions: Decisions | None) -> Schema:
    """`schema` with the results of its methods in the order of the rows, which are asked for.

    A `[[narrow]]` row for a member of the type that goes first answers too.
    """
    if decisions is None:
        return schema
    methods = tuple(_ordered(schema, decisions, method) for method in schema.methods)
    return replace(schema, methods=methods)


def _ordered(schema: Schema, decisions: Decisions, method: Method) -> Method:
    pairs = list(_undecided(schema, decisions, method))
    if not pairs or method.result is None:
        return method
    names = [arm.name for arm in arms(schema, method.result) if isinstance(arm, Ref)]
    both = "; ".join(f"`{first}` and `{second}`" for first, second in pairs)
    question = (
        f"{schema.path}: `{method.name}`: some results are of {both}: which type goes first?"
        f"\n#   (Or a [[narrow]] row for a member of `{pairs[0][0]}` that tells it apart.)"
    )
    path = f"{method.name}.result"
    row = decisions.ask("union", schema.revision, path, pairs, question, {"order": names})
    if row is None:
        return method
    if sorted(row.values["order"]) != sorted(names):
        raise DecisionError(
            f"[[union]] `{path}` of {schema.revision}: order does not list {', '.join(names)}",
            remedy="Name each of these types once.",
        )
    return replace(method, result=Uni(tuple(map(Ref, row.values["order"])), ordered=True))


def _undecided(schema: Schema, decisions: Decisions, method: Method) -> Iterator[tuple[str, str]]:
    """The pairs of types that accept one result, where no narrowed member decides."""
    if method.result is None:
        return
    narrowed = {path.partition(".")[0] for path in decisions.paths("narrow", schema.revision)}
    leaves = [arm for arm in arms(schema, method.result) if isinstance(arm, Ref)]
    for first, second in combinations(leaves, 2):
        if first.name not in narrowed and not disjoint(schema, first, second):
            yield first.name, second.name
