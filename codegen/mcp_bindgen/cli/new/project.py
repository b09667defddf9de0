"""Makes the files of a project for `new` and `update`, and reads the tools it is made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import distribution
from typing import TYPE_CHECKING, Any, cast

from mcp_bindgen import manifest, paths, pins
from mcp_bindgen.cli.server_lists import read_lists
from mcp_bindgen.errors import InputError
from mcp_bindgen.scaffold.answers import RUNTIMES, Answers

if TYPE_CHECKING:
    from mcp_bindgen.cli.options import Network
    from mcp_bindgen.scaffold.tools import Tool

__all__ = ["default_runtime", "texts", "tools", "tools_of"]


def texts(answers: Answers, tools: Sequence[Tool] = (), listed: str = "") -> dict[str, str]:
    """Every file of a project by path; `listed` is its existing list of tools, if any.

    Raises BindgenError.
    """
    from mcp_bindgen.scaffold.render import project, templates
    from mcp_bindgen.scaffold.vendor import vendored

    files: dict[str, str] = {}
    if answers.runtime == RUNTIMES[0]:
        files = {**vendored(answers, _wire(answers), _runtime()), **_terms()}
    handlers = pins.decisions().handlers
    return project(answers, templates(answers.tools), files, tools, listed, handlers)


def default_runtime() -> str:
    """`dependency` if an index of packages has the runtime, and so for others too; else `vendored`.

    Nobody is asked: an installer notes where a distribution came from unless it was an index.
    Source: PEP 610, "direct_url.json".
    """
    came_from_elsewhere = distribution("mcp-bindgen-runtime").read_text("direct_url.json")
    return RUNTIMES[0] if came_from_elsewhere else RUNTIMES[1]


def tools(
    source: str, network: Network, *, strict: bool = False, left_out: list[str] | None = None
) -> list[Tool]:
    """The tools in a file with a result of `tools/list`, of a server started by a command, or of a
    server at a URL, reached as `network` says. See `tools_of`.
    """
    data, name = read_lists(source, network, only_tools=True)
    return tools_of(data, name, strict=strict, left_out=left_out)


def tools_of(
    data: bytes, path: str, *, strict: bool = False, left_out: list[str] | None = None
) -> list[Tool]:
    """The tools of a list which a server can offer; the others are named in `left_out`.

    Raises InputError, also for the others if `strict` or without `left_out`; SchemaError.
    """
    from mcp_bindgen.scaffold.tools import read

    return read(data, path, strict=strict, refusal=_refusal, left_out=left_out)


def _refusal(tool: object) -> str:
    """The reason why the runtime refuses a tool, given in its JSON form; empty if it accepts it.

    The tool is registered with a server of the runtime, as in the project.
    """
    from mcp_runtime import Server
    from mcp_runtime.json_schema.validator import BadSchema

    async def answer(arguments: object, context: object) -> None:
        del arguments, context

    try:
        Server("trial", "1").raw_tool(cast("dict[str, Any]", tool), arguments=dict)(answer)
    except (BadSchema, TypeError, ValueError) as error:
        return str(error)
    return ""


def _wire(answers: Answers) -> dict[str, str]:
    from mcp_bindgen.cli.generate.files import bindings
    from mcp_bindgen.emit import Options

    schemas = {revision: pins.find(revision) for revision in answers.revisions}
    apps = [name for name in pins.extensions() if name.startswith("apps@")]
    pages = [max(apps, key=lambda name: name.replace("draft-", ""))] if answers.ui else []
    return bindings(schemas, Options(flavours=("msgspec",)), steps=True, extensions=pages)


def _terms() -> Mapping[str, str]:
    """The licences of the vendored files, and the authors of the declarations."""
    license = distribution("mcp-bindgen-runtime").read_text("licenses/LICENSE")
    if license is None:
        remedy = "Install it again: pip install --force-reinstall mcp-bindgen-runtime"
        raise InputError("mcp-bindgen-runtime is installed without its license", remedy=remedy)
    return {"LICENSE": license, "NOTICE": pins.read_text(paths.schema() / "NOTICE")}


def _runtime() -> Mapping[str, str]:
    return {path: data.decode() for path, data in manifest.texts(paths.runtime(), ".py")}
