"""The features of the official audit: each is told and shown on a page, for server and client.

A row has the page and a line of the snippet that shows the feature, for each role. `None` marks a
role that does not have the feature. Other tests run every snippet; this one says which feature
would lose its example.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.support.pages import Page

pytestmark = pytest.mark.sources

DOCS: Final = Path(__file__).parents[1] / "docs"


class Shown(NamedTuple):
    """A page, words of its prose, and code of one of its snippets."""

    page: str
    word: str
    code: str


SERVER, ASK, RESULTS, RUNS = "SERVER.md", "ASK.md", "RESULTS.md", "WHILE-IT-RUNS.md"
COOK, CLIENT, VERSIONS, HTTP = "COOKBOOK.md", "CLIENT.md", "PROTOCOL-VERSIONS.md", "HTTP.md"
LISTS: Final = Shown(RUNS, "list_changed", "listen(tools=True, resources=True, prompts=True)")
CHANGED: Final = Shown(RUNS, "Add or remove", "server.add_")
FEATURES: Final[dict[str, tuple[Shown | None, Shown | None]]] = {
    "tools: list": (Shown(SERVER, "tool", "@server.tool"), Shown(COOK, "tools", "list_tools()")),
    "tools: call": (
        Shown(SERVER, "tool", "@server.tool"),
        Shown(COOK, "Call a tool", "call_tool("),
    ),
    "tools: text": (Shown(RESULTS, "Text", "-> str:"), Shown(RESULTS, "text", "block.text")),
    "tools: image": (
        Shown(RESULTS, "Image", 'Image(PNG, "image/png")'),
        Shown(RESULTS, "ImageContent", "types.ImageContent"),
    ),
    "tools: audio": (
        Shown(RESULTS, "Audio", "Audio(b"),
        Shown(RESULTS, "Audio", "types.AudioContent"),
    ),
    "tools: embedded resource": (
        Shown(RESULTS, "Embedded", "Embedded("),
        Shown(RESULTS, "block.resource", "types.EmbeddedResource"),
    ),
    "tools: errors": (
        Shown(SERVER, "Report an error", "raise ToolError("),
        Shown(CLIENT, "Look at `is_error`", "result.is_error"),
    ),
    "tools: list changed": (CHANGED, LISTS),
    "resources: list": (
        Shown(SERVER, "resource", "@server.resource"),
        Shown(COOK, "resources", "list_resources()"),
    ),
    "resources: read text": (
        Shown(RESULTS, "Text resources", "@server.resource"),
        Shown(COOK, "Read a resource", "read_resource("),
    ),
    "resources: read binary": (
        Shown(RESULTS, "Binary resources", "-> bytes:"),
        Shown(RESULTS, "blob", ".blob"),
    ),
    "resources: list templates": (
        Shown(RESULTS, "template", "/{number}"),
        Shown(COOK, "templates", "list_resource_templates()"),
    ),
    "resources: read by a template": (
        Shown(RESULTS, "template", "/{number}"),
        Shown(RESULTS, "variable", "read_resource("),
    ),
    "resources: subscribe": (
        Shown(RUNS, "resource_updated", "server.resource_updated("),
        Shown(RUNS, "subscribes", "listen(uris="),
    ),
    "resources: unsubscribe": (None, Shown(RUNS, "unsubscribe", "unsubscribed")),
    "resources: list changed": (CHANGED, LISTS),
    "prompts: list": (
        Shown(SERVER, "prompt", "@server.prompt"),
        Shown(COOK, "prompts", "list_prompts()"),
    ),
    "prompts: get": (
        Shown(SERVER, "Offer a prompt", "@server.prompt"),
        Shown(COOK, "Get a prompt", "get_prompt("),
    ),
    "prompts: arguments": (
        Shown(SERVER, "arguments", "@server.prompt"),
        Shown(COOK, "Get a prompt", "get_prompt("),
    ),
    "prompts: embedded resource": (
        Shown(RESULTS, "Prompts with pictures and documents", '("user", Embedded('),
        Shown(RESULTS, "prompt", "message.content.type"),
    ),
    "prompts: image": (
        Shown(RESULTS, "Prompts with pictures and documents", '("user", Image('),
        Shown(RESULTS, "prompt", "message.content.type"),
    ),
    "prompts: list changed": (CHANGED, LISTS),
    "sampling": (Shown(ASK, "sampling", "ctx.sample("), Shown(COOK, "sampling", "on_sample=")),
    "elicitation: form": (
        Shown(ASK, "Ask with a form", "ctx.elicit("),
        Shown(ASK, "form", "on_elicit="),
    ),
    "elicitation: URL": (
        Shown(ASK, "URL mode", "ctx.elicit_url("),
        Shown(ASK, "admits pages", "elicit_modes="),
    ),
    "elicitation: validation": (
        Shown(ASK, "Validate the answer", "ctx.elicit("),
        Shown(ASK, "Validate the answer", "on_elicit="),
    ),
    "elicitation: defaults": (
        Shown(ASK, "Set defaults", "ctx.elicit("),
        Shown(ASK, "defaults", "on_elicit="),
    ),
    "elicitation: enums": (
        Shown(ASK, "enums", "Literal["),
        Shown(ASK, "enums", "on_elicit="),
    ),
    "elicitation: complete": (
        Shown(ASK, "complete", "ctx.elicitation_over("),
        Shown(ASK, "on_elicitation_complete", "on_elicitation_complete="),
    ),
    "roots: list": (Shown(ASK, "roots", "ctx.roots()"), Shown(ASK, "folders", "roots=[")),
    "roots: list changed": (
        Shown(ASK, "roots/list_changed", "ctx.roots()"),
        Shown(ASK, "set_roots", "client.set_roots("),
    ),
    "logging: messages": (
        Shown(RUNS, "Log messages", "ctx.debug("),
        Shown(RUNS, "on_log", "on_log="),
    ),
    "logging: level": (
        Shown(RUNS, "below the level", "ctx.warning("),
        Shown(RUNS, "log_level", "client.set_log_level("),
    ),
    "completion: resource": (
        Shown(COOK, "Complete", '@server.completion("'),
        Shown(COOK, "Complete", "client.complete(of_template"),
    ),
    "completion: prompt": (
        Shown(SERVER, "Complete an argument", "@server.completion("),
        Shown(COOK, "Complete", "client.complete(of_prompt"),
    ),
    "ping": (Shown(SERVER, "pings", "ping_every="), Shown(VERSIONS, "ping", "client.ping()")),
    "transport: Streamable HTTP": (
        Shown(HTTP, "HTTP", 'server.run(http="'),
        Shown(COOK, "Streamable HTTP", "Client.http("),
    ),
    "transport: HTTP+SSE": (
        Shown(HTTP, "HTTP+SSE", 'sse="/events"'),
        Shown(COOK, "HTTP+SSE", "by_sse = Client.http("),
    ),
    "transport: stdio": (
        Shown(SERVER, "Run it", "server.run()"),
        Shown(COOK, "Connect", "Client.stdio("),
    ),
    "progress": (
        Shown(RUNS, "Progress", "ctx.progress("),
        Shown(RUNS, "on_progress", "on_progress="),
    ),
    "cancellation": (
        Shown(RUNS, "CancelledError", "finally:"),
        Shown(RUNS, "Cancellation", "call.cancel()"),
    ),
    "pagination": (
        Shown(RUNS, "Pages of long lists", "Limits("),
        Shown(RUNS, "Pages of long lists", "list_tools()"),
    ),
    "capabilities": (
        Shown(VERSIONS, "declares a capability", 'offers=["tools"]'),
        Shown(VERSIONS, "capabilities", "client.server_capabilities"),
    ),
    "version negotiation": (
        Shown(VERSIONS, "Which revision is spoken", "revisions="),
        Shown(VERSIONS, "Which revision is spoken", "client.revision"),
    ),
    "JSON Schema 2020-12": (
        Shown(RESULTS, "JSON Schema 2020-12", "@server.tool"),
        Shown(RESULTS, "JSON Schema 2020-12", '["outputSchema"]'),
    ),
}
ROWS: Final = [
    pytest.param(shown, id=f"{name}, {role}")
    for name, sides in FEATURES.items()
    for role, shown in zip(("server", "client"), sides, strict=True)
    if shown is not None
]


@pytest.mark.parametrize("shown", ROWS)
def test_a_feature_is_told_in_prose_and_shown_in_a_snippet_that_runs(shown: Shown) -> None:
    page = Page(DOCS / shown.page, (DOCS / shown.page).read_text("utf-8"))
    assert shown.word in page.prose
    assert any(shown.code in b.text for b in page.blocks if b.language == "python")
