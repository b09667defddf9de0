"""A FastAPI application whose requests and responses are the protocol's own models.

    uvicorn examples.catalog:app
    curl -d '{"tool": {"name": "add", "inputSchema": {"type": "object"}}, "team": "maths"}' \\
        -H 'Content-Type: application/json' http://127.0.0.1:8000/entries

The models are used as any pydantic model is: as a body, as a response, and inside a model of one's
own.
"""

from __future__ import annotations

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from mcp_wire.v2025_11_25.models_pydantic import (
    UNSET,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ListToolsResult,
    TextContent,
    Tool,
)

app = FastAPI()


class Entry(BaseModel):
    """A tool of the catalog, and who looks after it."""

    tool: Tool
    team: str
    notes: list[ContentBlock] = []


entries: dict[str, Entry] = {}


@app.post("/entries")
def add(entry: Entry) -> Entry:
    entries[entry.tool.name] = entry
    return entry


@app.get("/tools")
def tools(cursor: str | None = None) -> ListToolsResult:
    return ListToolsResult(tools=[entry.tool for entry in entries.values()])


@app.post("/tools/{name}/notes")
def note(name: str, block: ContentBlock) -> list[ContentBlock]:
    """Adds a note; whether it is text or an image is told by its `type`."""
    if name not in entries:
        raise HTTPException(404)
    entries[name].notes.append(block)
    return entries[name].notes


@app.post("/call")
def call(params: CallToolRequestParams) -> CallToolResult:
    """Answers with the arguments; a tool that is unknown is an error of the tool."""
    if params.name not in entries:
        text = TextContent(text=f"there is no tool {params.name!r}")
        return CallToolResult(content=[text], is_error=True)
    given = {} if params.arguments is UNSET else params.arguments
    return CallToolResult(content=[], structured_content=given)
