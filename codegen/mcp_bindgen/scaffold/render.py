"""Renders a project: the text of each file, from its options, templates and vendored modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Final

import jinja2

from mcp_bindgen import __version__, paths
from mcp_bindgen.errors import TemplateError
from mcp_bindgen.scaffold.answers import AUTHS, RUNTIMES, TRANSPORTS, Answers
from mcp_bindgen.scaffold.handlers import joined, tool_view
from mcp_bindgen.scaffold.record import BASE, NAME, pack, render
from mcp_bindgen.scaffold.tools import Tool, listing

__all__ = ["project", "templates", "tools_path"]

_SUFFIX: Final = ".jinja"
_PACKAGE: Final = "NAME"
_TOOL: Final = "TOOL"
"""The placeholder for a tool's module in the paths of templates."""
_ONLY: Final = {
    "compose.yaml.jinja": "scale",
    "nginx.conf": "scale",
    "src/NAME/auth.py.jinja": "bearer",
    "src/NAME/page.html": "ui",
    "tests/conftest.py.jinja": "bearer",
    "clients/bundle.py.jinja": "stdio",
    "clients/claude_desktop_config.json.jinja": "stdio",
    "manifest.json.jinja": "stdio",
    "tests/test_http.py.jinja": "http",
    "tests/test_page.py.jinja": "ui",
    "tests/test_stdio.py.jinja": "stdio",
    "tests/test_vendored.py.jinja": "vendored",
}
"""Templates for one transport, one kind of authorization, for scale, for a page, or for a copied
runtime.
"""


def templates(tools: bool) -> dict[str, str]:
    """The templates of templates/project by path; with `tools`, those of templates/tools over
    them.
    """
    files = _folder("project")
    return {**files, **_folder("tools")} if tools else files


def _folder(name: str) -> dict[str, str]:
    folder = paths.templates() / name
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}


def project(
    answers: Answers,
    texts: Mapping[str, str],
    vendored: Mapping[str, str],
    tools: Sequence[Tool] = (),
    listed: str = "",
    handlers: str | None = None,
) -> dict[str, str]:
    """The text of every file of the project by its path, its record among them.

    `texts` are templates, `vendored` the files of `_mcp/`; `listed` is the user's list of tools;
    `handlers` is the revision of the handlers, None for the newest. Raises TemplateError.
    """
    home = f"src/{answers.package}"
    files = {
        **dict(_render_all(answers, texts, tools, handlers or answers.revisions[-1])),
        **{f"{home}/_mcp/{path}": text for path, text in vendored.items()},
    }
    if answers.tools:
        files[tools_path(answers)] = listed or listing(tools)
    record = {NAME: render(__version__, answers, files), BASE: pack(files)}
    return dict(sorted({**files, **record}.items()))


def tools_path(answers: Answers) -> str:
    """The path of a project's list of tools."""
    return f"src/{answers.package}/tools/tools.json"


def _render_all(
    answers: Answers, texts: Mapping[str, str], tools: Sequence[Tool], handlers: str
) -> Iterator[tuple[str, str]]:
    """Render the templates; a tool's templates once for each tool."""
    extras = {"scale": answers.scale, "ui": answers.ui}
    extra_names = (name for name, is_on in extras.items() if is_on)
    chosen = (*answers.transports, answers.auth, answers.runtime, *extra_names)
    view: dict[str, Any] = {
        "name": answers.name,
        "package": answers.package,
        "newest": answers.revisions[-1],
        "oldest": answers.revisions[0],
        "pinned": "" if handlers == answers.revisions[-1] else f', revisions=["{handlers}"]',
        "tools": answers.tools,
        "auth": answers.auth != AUTHS[0],
        **_runtime_view(answers),
        **extras,
        **{transport: transport in answers.transports for transport in TRANSPORTS},
        **joined(tools),
    }
    own = () if view["vendored"] else ("from mcp_runtime import Context",)
    for path, text in texts.items():
        if _ONLY.get(path, chosen[0]) not in chosen:
            continue
        target = _target(path, answers.package)
        if _TOOL in PurePosixPath(target).stem:
            for tool in tools:
                said = _render(path, text, {**view, "tool": tool_view(tool, own)})
                yield target.replace(_TOOL, tool.module), said
        else:
            yield target, _render(path, text, view) if path.endswith(_SUFFIX) else text


def _runtime_view(answers: Answers) -> dict[str, Any]:
    """The values that say where a project has the runtime: `own` is its name in the package of the
    project, `mcp` elsewhere, `needed` its extras and versions as a dependency.
    """
    is_vendored = answers.runtime == RUNTIMES[0]
    is_on = {
        "auth": answers.auth != AUTHS[0],
        "http": "http" in answers.transports,
        "redis": answers.scale,
    }
    extras = ",".join(name for name, on in is_on.items() if on)
    major, minor, *_ = __version__.split(".")
    return {
        "vendored": is_vendored,
        "own": "._mcp.runtime" if is_vendored else "mcp_runtime",
        "mcp": f"{answers.package}._mcp.runtime" if is_vendored else "mcp_runtime",
        "needed": f"{f'[{extras}]' if extras else ''}>={__version__},<{major}.{int(minor) + 1}",
    }


def _target(path: str, package: str) -> str:
    parts = [package if p == _PACKAGE else p for p in PurePosixPath(path).parts]
    return "/".join(parts).removesuffix(_SUFFIX)


def _render(path: str, text: str, view: Mapping[str, Any]) -> str:
    try:
        return _engine().from_string(text).render(view)
    except jinja2.TemplateError as error:
        line = f":{error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else ""
        raise TemplateError(
            f"{Path('templates/project') / path}{line}: {error}", remedy="Mend the template."
        ) from None


@lru_cache
def _engine() -> jinja2.Environment:
    return jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
