"""Draws the rooms of the packages as SVG: boxes in layers, and an arrow to what each imports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from xml.sax.saxutils import escape

from docs.layers import Layers, Node, layers
from docs.rooms import BASE, House, Room

__all__ = ["draw"]

LETTER, BOX, ROW, GAP, MARGIN, TITLE = 7.9, 32.0, 74.0, 18.0, 26.0, 40.0
PASSAGE: Final = 14.0
"""The width that is kept where an arrow passes a row."""
ROUNDS: Final = 40

STYLE: Final = """\
text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; text-anchor: middle }
.title { font-weight: 600; font-size: 15px }
.rank { fill: #656d76; font-size: 11px }
.panel { fill: #f6f8fa; stroke: #d0d7de }
.box { fill: #ffffff; stroke: #57606a }
.outside { fill: none; stroke: #57606a; stroke-dasharray: 4 3 }
.arrow { fill: none; stroke: #57606a }
.types { stroke-dasharray: 4 3 }
.upward { fill: none; stroke: #cf222e; stroke-width: 2 }
marker path { fill: #57606a }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .rank { fill: #8d96a0 } .panel { fill: #161b22; stroke: #30363d }
  .box { fill: #0d1117; stroke: #8d96a0 } .outside, .arrow { stroke: #8d96a0 }
  marker path { fill: #8d96a0 }
}"""
MARKER: Final = (
    '<marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
    ' orient="auto"><path d="M0 0L8 4L0 8z"/></marker>'
)


@dataclass(frozen=True, slots=True)
class Panel:
    """One package: its rooms, their layers, and the middle of each node, from the left."""

    house: House
    layers: Layers
    middle: Mapping[Node, float]

    @property
    def width(self) -> float:
        right = max(x + _width(self.house.rooms, node) / 2 for node, x in self.middle.items())
        return right + MARGIN

    @property
    def height(self) -> float:
        return TITLE + len(self.layers.rows) * ROW

    def y(self, node: Node) -> float:
        """The middle of the node, from the top."""
        row = next(i for i, row in enumerate(self.layers.rows) if node in row)
        return TITLE + row * ROW + ROW / 2


def draw(houses: Sequence[House]) -> str:
    """The packages side by side."""
    panels = [_panel(house) for house in houses]
    width = sum(panel.width for panel in panels) + GAP * (len(panels) - 1)
    height = max(panel.height for panel in panels)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"'
        f' width="{width:.0f}" height="{height:.0f}">',
        f"<style>\n{STYLE}\n</style>",
        f"<defs>{MARKER}</defs>",
    ]
    left = 0.0
    for panel in panels:
        lines += [f'<g transform="translate({left:.0f} 0)">', *_drawn(panel, height), "</g>"]
        left += panel.width + GAP
    return "\n".join((*lines, "</svg>", ""))


def _panel(house: House) -> Panel:
    placed = layers({room.name: room.below for room in house.rooms.values()})
    return Panel(house, placed, _middles(house.rooms, placed))


def _width(rooms: Mapping[str, Room], node: Node) -> float:
    if len(node) == 1:
        return len(_label(rooms[node[0]])) * LETTER + 20
    return PASSAGE


def _label(room: Room) -> str:
    """The folder; of the base its modules."""
    if room.name != BASE:
        return room.name
    return " · ".join(name.split(".")[-1] for name in room.modules if "." in name)


# ---- where a node stands in its row


def _middles(rooms: Mapping[str, Room], placed: Layers) -> dict[Node, float]:
    """Each node drawn to the middle of its neighbours, as far as its row has room."""
    edges = [edge for path in placed.paths for edge in pairwise(path)]
    near: dict[Node, list[Node]] = {node: [] for row in placed.rows for node in row}
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    middle = {node: float(i) for row in placed.rows for i, node in enumerate(row)}
    for _ in range(ROUNDS):
        for row in placed.rows:
            wanted = [_average([middle[each] for each in near[node]], middle[node]) for node in row]
            widths = [_width(rooms, node) for node in row]
            middle |= dict(zip(row, _apart(wanted, widths), strict=True))
    left = min(x - _width(rooms, node) / 2 for node, x in middle.items())
    return {node: x - left + MARGIN for node, x in middle.items()}


def _average(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default


def _apart(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """The wanted places in their order, pushed apart to both sides until none overlap."""
    right = _pushed(wanted, widths)
    left = [-x for x in reversed(_pushed([-x for x in reversed(wanted)], widths[::-1]))]
    return [(a + b) / 2 for a, b in zip(left, right, strict=True)]


def _pushed(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """To the right."""
    places: list[float] = []
    for i, x in enumerate(wanted):
        least = places[-1] + (widths[i - 1] + widths[i]) / 2 + GAP if places else x
        places.append(max(x, least))
    return places


# ---- the elements


def _drawn(panel: Panel, height: float) -> Iterator[str]:
    size = f'width="{panel.width - 1:.0f}" height="{height - 1:.0f}"'
    yield f'<rect class="panel" x="0.5" y="0.5" {size} rx="8"/>'
    yield _text(panel.width / 2, 26, panel.house.folder.name, "title")
    for i in range(len(panel.layers.rows)):
        yield _text(12, TITLE + i * ROW + ROW / 2 + 4, str(len(panel.layers.rows) - 1 - i), "rank")
    for path in panel.layers.paths:
        yield _arrow(panel, path)
    for ends in panel.layers.upward:
        (x, y), (to, end) = (_place(panel, (name,)) for name in ends)
        line = f"M{x:.0f} {y:.0f}L{to:.0f} {end:.0f}"
        yield f'<path class="upward" marker-end="url(#to)" d="{line}"/>'
    for room in sorted(panel.house.rooms.values(), key=lambda room: room.name):
        yield from _box(panel, room)


def _place(panel: Panel, node: Node) -> tuple[float, float]:
    return panel.middle[node], panel.y(node)


def _arrow(panel: Panel, path: Sequence[Node]) -> str:
    """From the lower edge of a box to the upper edge of another, through passages."""
    house = panel.house.rooms
    names = path[-1][0] not in house[path[0][0]].imports
    x, y = _place(panel, path[0])
    parts = [f"M{x:.0f} {y + BOX / 2:.0f}"]
    y += BOX / 2
    for node in path[1:]:
        to, middle = _place(panel, node)
        end = middle - BOX / 2
        bend = (end - y) / 2
        parts.append(f"C{x:.0f} {y + bend:.0f} {to:.0f} {end - bend:.0f} {to:.0f} {end:.0f}")
        x, y = to, end
        if node != path[-1]:
            parts.append(f"V{middle + BOX / 2:.0f}")
            y = middle + BOX / 2
    kind = "arrow types" if names else "arrow"
    return f'<path class="{kind}" marker-end="url(#to)" d="{"".join(parts)}"/>'


def _box(panel: Panel, room: Room) -> Iterator[str]:
    x, y = _place(panel, (room.name,))
    width = _width(panel.house.rooms, (room.name,))
    kind = "box" if room.modules else "outside"
    yield (
        f'<rect class="{kind}" x="{x - width / 2:.0f}" y="{y - BOX / 2:.0f}"'
        f' width="{width:.0f}" height="{BOX:.0f}" rx="5"/>'
    )
    yield _text(x, y + 4.5, _label(room))


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.0f}" y="{y:.1f}">{escape(text)}</text>'
