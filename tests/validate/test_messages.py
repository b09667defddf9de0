"""Where the messages of a text begin, and which bytes they are."""

from __future__ import annotations

import tracemalloc
from itertools import chain

import pytest

from mcp_bindgen.limits import MAX_MESSAGE_BYTES
from mcp_bindgen.validate.messages import Text, numbered, texts

BOM = "\ufeff"


def messages(text: str, name: str = "") -> list[tuple[int, str]]:
    lines = numbered(iter(text.encode().splitlines(keepends=True)))
    return [(t.line, (t.data or b"").decode()) for t in texts(lines, name)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n \n", []),
        ('{"a": 1}', [(1, '{"a": 1}')]),
        ('{"a": 1}\n{"b": 2}\n', [(1, '{"a": 1}\n'), (2, '{"b": 2}\n')]),
        ('\n{"a": 1}\n\n[2]\n', [(2, '{"a": 1}\n'), (4, "[2]\n")]),
        ('{\n  "a": 1\n}\n', [(1, '{\n  "a": 1\n}\n')]),
        ('[\n{"a": 1},\n{"b": 2}\n]\n', [(1, '[\n{"a": 1},\n{"b": 2}\n]\n')]),
        ('{"a":\n{"b": 2}\n', [(1, '{"a":\n'), (2, '{"b": 2}\n')]),
        ('{"a": 1}\nnonsense\n', [(1, '{"a": 1}\n'), (2, "nonsense\n")]),
        ("nonsense\nmore\n", [(1, "nonsense\nmore\n")]),
        (BOM + '{"a": 1}', [(1, BOM + '{"a": 1}')]),
        ('[{"a": 1},\n{"b": 2}]\n', [(1, '[{"a": 1},\n{"b": 2}]\n')]),
        ('{"a": "cut\n{"b": 2}\n', [(1, '{"a": "cut\n'), (2, '{"b": 2}\n')]),
        ("{\n}\n\n{\n}\n[\n]\n", [(1, "{\n}\n\n"), (4, "{\n}\n"), (6, "[\n]\n")]),
        ('started\n\n{"a": 1}\nbye\n', [(1, "started\n"), (3, '{"a": 1}\n'), (4, "bye\n")]),
        ("[link](#a)\n{/* note */}\n", [(1, "[link](#a)\n{/* note */}\n")]),
    ],
)
def test_a_text_is_one_document_or_has_one_a_line(
    text: str, expected: list[tuple[int, str]]
) -> None:
    assert messages(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Title\n```json\n{}\n```\n", [(3, "{}\n")]),
        ("a\n~~~ json title=x\n{}\n~~~~\nb\n", [(3, "{}\n")]),
        ("```JSON\r\n{}\r\n```\r\n", [(2, "{}\r\n")]),
        ('- item\n\n  ```json\n  {\n    "a": 1\n  }\n  ```\n', [(4, '{\n  "a": 1\n}\n')]),
        ("> ```json\n> {}\n> ```\n", [(2, "{}\n")]),
        ("````json\n```\n{}\n````\n", [(2, "```\n{}\n")]),
        ("```ts\n```json\n```\n", []),
        ("```\n{}\n```\n```jsonc\n{}\n```\n```jsonl\n{}\n```\n", []),
        ("```json\n```\n", [(1, "")]),
        ("```json\n{}\n", [(2, "{}\n")]),
        ("```json\n\n{\n}\n{\n}\n```\n", [(3, "{\n}\n"), (5, "{\n}\n")]),
        ("1. ```json theme={null}\n   {}\n   ```\n", [(2, "{}\n")]),
        ("```json``` is no fence\n```json\n{}\n", [(3, "{}\n")]),
        (BOM + "```json\n{}\n```\n", [(2, "{}\n")]),
        (BOM + "# Page\n```json\n{}\n```\n", [(3, "{}\n")]),
        ("[link](#a)\n\n```json\n{}\n```\n", [(4, "{}\n")]),
        ("text `{}` and {}\n", [(1, "text `{}` and {}\n")]),
    ],
)
def test_in_markdown_the_blocks_of_json_are_the_messages(
    text: str, expected: list[tuple[int, str]]
) -> None:
    assert messages(text) == expected


def test_a_suffix_says_what_a_file_is() -> None:
    assert messages("prose\n", "a.md") == []
    assert messages("{}\n", "a.mdx") == []
    assert messages("prose\n{}\n", "a.jsonl") == [(1, "prose\n"), (2, "{}\n")]
    assert messages("```json\n{}\n```\n", "a.json") == [(1, "```json\n{}\n```\n")]


def test_what_is_too_large_has_no_data_and_hides_nothing_else() -> None:
    lines = [b'{"a": 1}\n', None, b'{"b": 2}\n']
    expected = [Text(1, lines[0]), Text(2, None), Text(3, lines[2])]
    assert list(texts(numbered(iter(lines)))) == expected
    long = [b"{\n", *[b'"",' * 341 + b"\n"] * (MAX_MESSAGE_BYTES // 1024), b"}\n"]
    assert list(texts(numbered(iter(long)))) == [Text(1, None)]


@pytest.mark.parametrize(
    ("name", "head"), [("", b"prose\n"), ("a.json", b"[\n"), ("a.md", b"```json\n")]
)
def test_a_text_without_end_is_not_held(name: str, head: bytes) -> None:
    line = b'"' + b"x" * 1022 + b'"\n'
    count = 8 * MAX_MESSAGE_BYTES // len(line)
    tracemalloc.start()
    lines = chain((head,), (bytes(bytearray(line)) for _ in range(count)))
    read = list(texts(numbered(lines), name))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [text.data for text in read] == [None]
    assert peak < 2 * MAX_MESSAGE_BYTES


def test_only_blocks_of_markdown_need_not_be_messages() -> None:
    def loose(text: str) -> list[bool]:
        lines = text.encode().splitlines(keepends=True)
        return [t.loose for t in texts(numbered(iter(lines)))]

    assert loose("{}\n{}\n") == [False, False]
    assert loose("```json\n{}\n```\n") == [True]
    assert loose("prose\n") == [False]
