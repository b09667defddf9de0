"""Places the nodes of a graph in layers, so that each edge leads from a layer to a lower one.

Longest-path layering, barycentre ordering, and virtual nodes where an edge passes a layer: the
usual steps of layered drawing. Edges that follow from others are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

__all__ = ["Graph", "Layers", "Node", "layers", "ranks"]

Graph: TypeAlias = Mapping[str, frozenset[str]]
Node: TypeAlias = tuple[str, ...]
"""A node, or a place where an edge passes a layer: both its ends and the layer."""

SWEEPS: Final = 24


@dataclass(frozen=True, slots=True)
class Layers:
    """`rows` from the top down; `paths` are the edges, through each row; `upward` are edges
    that close a circle, which no row can show."""

    rows: list[list[Node]]
    paths: list[list[Node]]
    upward: list[tuple[str, str]]


def layers(graph: Graph) -> Layers:
    """Where each node stands, in rows whose order crosses few edges."""
    upward = sorted(_closing(graph))
    downward = {node: below - {b for a, b in upward if a == node} for node, below in graph.items()}
    rank = ranks(downward)
    paths = [_path(a, b, rank) for a, b in _direct(downward)]
    rows: list[list[Node]] = [[] for _ in range(max(rank.values()) + 1)]
    for node in sorted(graph):
        rows[-1 - rank[node]].append((node,))
    for path in paths:
        for place in path[1:-1]:
            rows[-1 - int(place[2])].append(place)
    _order(rows, paths)
    return Layers(rows, paths, upward)


def ranks(graph: Graph) -> dict[str, int]:
    """0 for what stands on nothing, else one more than the highest that it stands on."""
    rank: dict[str, int] = {}

    def of(node: str) -> int:
        if node not in rank:
            rank[node] = 1 + max(map(of, graph[node]), default=-1)
        return rank[node]

    for node in graph:
        of(node)
    return rank


def _closing(graph: Graph) -> Iterator[tuple[str, str]]:
    """The edges that lead back to where the walk came from."""
    done: set[str] = set()

    def walk(node: str, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        for each in sorted(graph[node]):
            if each in above:
                yield node, each
            elif each not in done:
                yield from walk(each, (*above, each))
        done.add(node)

    for node in sorted(graph):
        if node not in done:
            yield from walk(node, (node,))


def _direct(graph: Graph) -> Iterator[tuple[str, str]]:
    """The edges that do not follow from others."""
    for node in sorted(graph):
        further = {far for near in graph[node] for far in _below(graph, near)}
        yield from ((node, each) for each in sorted(graph[node] - further))


def _below(graph: Graph, node: str) -> set[str]:
    return set(graph[node]).union(*(_below(graph, each) for each in graph[node]))


def _path(a: str, b: str, rank: Mapping[str, int]) -> list[Node]:
    between = range(rank[a] - 1, rank[b], -1)
    return [(a,), *((a, b, str(each)) for each in between), (b,)]


def _order(rows: list[list[Node]], paths: list[list[Node]]) -> None:
    """Sorts each row by the mean place of its neighbours, downwards and upwards in turn."""
    edges = [edge for path in paths for edge in pairwise(path)]
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row, fixed in pairwise(rows if not down else reversed(rows)):
            place = {node: (i + 0.5) / len(row) for i, node in enumerate(row)}
            fixed.sort(key=_mean(fixed, place, edges))


def _mean(
    row: list[Node], place: Mapping[Node, float], edges: list[tuple[Node, Node]]
) -> Callable[[Node], float]:
    """The mean place of a node's neighbours in the row beside; its own where it has none."""
    own = {node: (i + 0.5) / len(row) for i, node in enumerate(row)}

    def mean(node: Node) -> float:
        near = [
            place[b if a == node else a]
            for a, b in edges
            if (a == node and b in place) or (b == node and a in place)
        ]
        return sum(near) / len(near) if near else own[node]

    return mean
