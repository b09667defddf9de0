"""A server of notes in SQLite: set-up and clean-up, structured results, a resource that changes.

python examples/notes.py notes.db                 # on standard input and output
mcp-bindgen call --list -- python examples/notes.py notes.db
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass

from mcp_runtime import Context, Server, ToolError

FILE = sys.argv[1] if len(sys.argv) > 1 else ":memory:"


@asynccontextmanager
async def lifespan(server: Server) -> AsyncGenerator[sqlite3.Connection]:
    """The database, for as long as the server is served."""
    with closing(sqlite3.connect(FILE, check_same_thread=False, isolation_level=None)) as database:
        database.execute("CREATE TABLE IF NOT EXISTS notes (title TEXT PRIMARY KEY, text TEXT)")
        yield database


server = Server("notes", "1.0.0", lifespan=lifespan, instructions="Keeps notes between sessions.")


@dataclass
class Note:
    title: str
    text: str


@dataclass
class Confirmation:
    """What is asked before a note is deleted."""

    delete: bool


def find(database: sqlite3.Connection, title: str) -> Note | None:
    row = database.execute("SELECT title, text FROM notes WHERE title = ?", [title]).fetchone()
    return Note(*row) if row else None


@server.tool
async def write_note(note: Note, ctx: Context) -> str:
    """Writes a note, over an older one of its title."""
    ctx.lifespan.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", [note.title, note.text])
    server.resource_updated(f"note://{note.title}")
    return f"{note.title!r} is written."


@server.tool
async def search_notes(words: str, ctx: Context) -> list[Note]:
    """The notes whose text contains these words."""
    query = "SELECT title, text FROM notes WHERE text LIKE '%' || ? || '%' ORDER BY title"
    return [Note(*row) for row in ctx.lifespan.execute(query, [words])]


@server.tool
async def delete_note(title: str, ctx: Context) -> str:
    """Deletes a note, if the user agrees."""
    if (note := find(ctx.lifespan, title)) is None:
        raise ToolError(f"there is no note {title!r}")
    answer = await ctx.elicit(f"Delete {note.title!r}?", Confirmation)
    if answer.content is None or not answer.content.delete:
        return f"{title!r} is kept."
    ctx.lifespan.execute("DELETE FROM notes WHERE title = ?", [title])
    return f"{title!r} is deleted."


@server.resource("note://{title}", mime_type="text/plain")
def read_note(title: str, ctx: Context) -> str | None:
    """The text of a note; None if there is no such note."""
    note = find(ctx.lifespan, title)
    return note.text if note else None


@server.completion("note://{title}", "title")
async def complete_title(typed: str, ctx: Context) -> list[str]:
    """The titles that begin with what was typed."""
    query = "SELECT title FROM notes WHERE title LIKE ? || '%' ORDER BY title"
    return [title for (title,) in ctx.lifespan.execute(query, [typed])]


@server.prompt
def summarise(title: str) -> str:
    """Asks for a summary of a note."""
    return f"Read note://{title} and summarise it in one sentence."


if __name__ == "__main__":
    server.run()
