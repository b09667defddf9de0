"""The errors shown by the command, each with place and remedy, grouped by who must act.

BindgenError                 every error the command reports without a traceback
  SchemaError                the schema text is at fault, at a place in it
    SchemaSyntaxError        it is not TypeScript
    UnsupportedSyntax        it is TypeScript without a meaning as a message
    SchemaMeaningError       it is well formed, but names or types do not fit together
    LimitExceeded            it is larger or deeper than we read
  DecisionError              schema/decisions.toml has a row too few or too many
    UnansweredError          rows are missing, or wait to be confirmed
  TemplateError              a template failed or asked for something undefined
  OutputError                the output folder is not ours, or cannot be written
  InputError                 an argument, a file or an address cannot be used
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "BindgenError",
    "DecisionError",
    "InputError",
    "LimitExceeded",
    "OutputError",
    "SchemaError",
    "SchemaMeaningError",
    "SchemaSyntaxError",
    "TemplateError",
    "UnansweredError",
    "UnsupportedSyntax",
]


class BindgenError(Exception):
    """An error with a remedy: `str()` is the whole message.

    `message` and each of `rows` take one line each: line ends in quoted text are escaped, so quoted
    text never starts a line of its own.
    """

    def __init__(self, message: str, *, rows: Iterable[str] = (), remedy: str = "") -> None:
        self.message = _one_line(message)
        self.remedy = remedy
        super().__init__("\n".join([self.message, *map(_one_line, rows), *filter(None, [remedy])]))


def count_of(count: int, noun: str) -> str:
    """A number with its noun in singular or plural: "1 file", "2 files"."""
    return f"{count} {noun if count == 1 else f'{noun}s'}"


def _one_line(text: str) -> str:
    return text.replace("\r", "\\r").replace("\n", "\\n")


class SchemaError(BindgenError):
    """A fault in schema text; `place` is `file:line:column`, `excerpt` the line and a caret."""

    def __init__(self, message: str, *, place: str, excerpt: str = "", remedy: str = "") -> None:
        super().__init__(f"{place}: {message}", rows=excerpt.splitlines(), remedy=remedy)
        self.place = place
        self.excerpt = excerpt


class SchemaSyntaxError(SchemaError):
    """The text is not TypeScript. Act: mend the file."""


class UnsupportedSyntax(SchemaError):
    """TypeScript which we refuse by name. Act: say it with declarations, or extend the reader."""


class SchemaMeaningError(SchemaError):
    """Names or types do not fit together. Act: mend the file, or add a row of decisions."""


class LimitExceeded(SchemaError):
    """The text is larger or deeper than a schema has reason to be. Act: look at the file."""


class DecisionError(BindgenError):
    """schema/decisions.toml lacks a row or has an unused one. Act: edit the row."""


class UnansweredError(DecisionError):
    """Rows are missing, or wait to be confirmed. Act: answer the questions."""


class TemplateError(BindgenError):
    """A template does not render. Act: mend the template."""


class OutputError(BindgenError):
    """The output cannot be written, or is not ours to replace. Act: choose another folder."""


class InputError(BindgenError):
    """An argument, a file or an address cannot be used. Act: call again, corrected."""
