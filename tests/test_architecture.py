"""The picture of docs/ARCHITECTURE.md: rooms are read from imports, and every arrow leads down."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from docs.drawing import draw
from docs.layers import Graph, layers, ranks
from docs.rooms import BASE, house

pytestmark = pytest.mark.sources

FILES: Final = {
    "__init__.py": "",
    "errors.py": "if TYPE_CHECKING:\n    from made_up.ir import model",
    "limits.py": "",
    "trace.py": "from made_up.shared.trace import TraceFile",
    "__main__.py": "from made_up.server.server import Server",
    "ir/__init__.py": "",
    "ir/model.py": "from made_up.errors import Error",
    "ir/deep/__init__.py": "",
    "ir/deep/walk.py": "from made_up.ir.model import Struct",
    "shared/__init__.py": "",
    "shared/trace.py": "def f():\n    from made_up.ir.deep import walk",
    "server/__init__.py": "",
    "server/server.py": "from made_up.server.http.app import App\nfrom made_up import limits",
    "server/registry.py": "if TYPE_CHECKING:\n    from made_up.shared.trace import TraceFile",
    "server/http/__init__.py": "import mcp_wire.v1",
    "server/http/app.py": "from ..registry import Registry",
}


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "made_up" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
    return tmp_path / "made_up"


def test_rooms_are_folders_facades_and_modules_above_them(made_up: Path) -> None:
    rooms = house(made_up).rooms
    read = {name: (set(room.imports), set(room.names)) for name, room in rooms.items()}
    assert read == {
        BASE: (set(), {"ir"}),
        "trace": ({"shared"}, set()),
        "ir": ({BASE}, set()),
        "shared": ({"ir"}, set()),
        "server": (set(), {"shared"}),
        "server/server": ({"server/http", BASE}, set()),
        "server/http": ({"server", "mcp_wire"}, set()),
        "mcp_wire": (set(), set()),
    }
    assert rooms[BASE].modules == ("made_up", "made_up.errors", "made_up.limits")


def graph(text: str) -> Graph:
    """`a>bc b c` says that a stands on b and c."""
    edges = (each.partition(">") for each in text.split())
    return {node: frozenset(below) for node, _, below in edges}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", {"a": 0}),
        ("a>b b>c c", {"a": 2, "b": 1, "c": 0}),
        ("a>bc b>c c", {"a": 2, "b": 1, "c": 0}),
        ("a>bc b c>d d", {"a": 2, "b": 0, "c": 1, "d": 0}),
    ],
)
def test_a_rank_is_one_more_than_the_highest_below(text: str, expected: dict[str, int]) -> None:
    assert ranks(graph(text)) == expected


def test_an_edge_that_follows_from_others_is_left_out() -> None:
    paths = layers(graph("a>bc b>c c")).paths
    assert sorted((path[0][0], path[-1][0]) for path in paths) == [("a", "b"), ("b", "c")]


def test_an_edge_passes_each_row_between_its_ends() -> None:
    placed = layers(graph("a>bd b>c c>e d e"))
    row = {node: i for i, nodes in enumerate(placed.rows) for node in nodes}
    for path in placed.paths:
        assert [row[b] - row[a] for a, b in pairwise(path)] == [1] * (len(path) - 1)
    assert max(map(len, placed.paths)) == 4


def test_a_circle_is_shown_as_an_edge_upwards() -> None:
    placed = layers(graph("a>b b>c c>a"))
    assert placed.upward == [("c", "a")]
    assert len(placed.rows) == 3


def test_boxes_do_not_overlap_and_every_room_has_one(root: Path) -> None:
    houses = [house(root / "codegen/mcp_bindgen"), house(root / "runtime/mcp_runtime")]
    svg = ET.fromstring(draw(houses))
    for group, one in zip(svg.iter("{http://www.w3.org/2000/svg}g"), houses, strict=True):
        boxes = [each.attrib for each in group if each.get("class") in ("box", "outside")]
        assert len(boxes) == len(one.rooms)
        spans = sorted(
            (float(b["y"]), float(b["x"]), float(b["x"]) + float(b["width"])) for b in boxes
        )
        assert all(a[2] < b[1] for a, b in pairwise(spans) if a[0] == b[0])


def test_every_arrow_of_the_runtime_leads_down(root: Path) -> None:
    svg = draw([house(root / "runtime/mcp_runtime")])
    arrows = re.findall(r'<path class="arrow[ a-z]*" [^>]*d="M\d+ (\d+)[^"]* (\d+)"/>', svg)
    assert arrows
    assert [each for each in arrows if int(each[0]) >= int(each[1])] == []
    assert 'class="upward"' not in svg
