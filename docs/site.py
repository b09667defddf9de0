"""Builds the documentation as a site in build/site/html, from the pages of this folder.

Usage: python -m docs.site

The pages keep their text. Names of files become lower-case addresses, and a link that leaves docs/
leads to a page with the text of that file. A link, an anchor or a picture that leads nowhere ends
the build before it begins, and so does any warning of Zensical, which checks those of the API too.
`llms.txt` and `llms-full.txt` are made from the same pages.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import mcp_runtime

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "docs"
BUILD: Final = ROOT / "build" / "site"
NAVIGATION: Final[Mapping[str, Sequence[str]]] = {
    "Tutorials": ["TUTORIAL.md", "OWN-PACKAGE.md", "DIFF-IN-CI.md"],
    "How-to": [
        "SERVER.md", "RESULTS.md", "ASK.md", "WHILE-IT-RUNS.md", "HOSTS.md", "TEST-YOUR-SERVER.md",
        "CLIENT.md", "COOKBOOK.md", "CALL.md", "TYPED-CLIENT.md", "LEAN.md", "HTTP.md", "DEPLOY.md",
        "SCALING.md", "AUTH.md", "BRIDGE.md",
        "TRANSPORTS.md", "IDENTITY-PROVIDERS.md", "SCAFFOLD.md", "TASKS.md", "APPS.md",
        "EXTENSIONS.md", "SERVER-CARD.md", "DIFF.md", "CONVERT.md", "VALIDATE.md", "COMPAT.md",
        "FROM-MCP.md",
        "TROUBLESHOOTING.md",
    ],
    "Explanation": ["PROTOCOL-VERSIONS.md", "BINDINGS.md", "TOLERANCES.md", "exactness.md"],
    "Reference": [
        "CLI.md", "LIMITS.md", "COMPATIBILITY.md", "CONVERSION.md", "DIFF-JSON.md",
        "changes/2024-11-05_2025-03-26.md", "changes/2025-03-26_2025-06-18.md",
        "changes/2025-06-18_2025-11-25.md", "changes/2025-11-25_2026-07-28.md",
    ],
    "Contribute": [
        "ARCHITECTURE.md", "TESTING.md", "READING.md", "DAY.md", "FLAVOURS.md", "CONFORMANCE.md",
        "THREATS.md",
    ],
}  # fmt: skip
"""Pages by the kind of reader's need. Every page of docs/ stands here once."""
WIRE: Final = "mcp_wire.v2026_07_28"
API: Final[Mapping[str, Sequence[str]]] = {
    "mcp_runtime: servers": [
        "mcp_runtime.server.server.Server",
        "mcp_runtime.server.context.Context",
        "mcp_runtime.server.context.Elicited",
        "mcp_runtime.server.functions.content",
        "mcp_runtime.server.functions.parameters.Header",
        "mcp_runtime.shared.safe_path.AnyPath",
    ],
    "mcp_runtime: clients": [
        "mcp_runtime.client.client.Client",
        "mcp_runtime.client.subscription",
        "mcp_runtime.trace",
    ],
    "mcp_runtime: errors and limits": ["mcp_runtime.errors", "mcp_runtime.limits"],
    "mcp_runtime: authorization": [
        "mcp_runtime.auth.server.bearer",
        "mcp_runtime.auth.server.verifier",
        "mcp_runtime.auth.server.jwt_verifier",
        "mcp_runtime.auth.server.introspection",
        "mcp_runtime.auth.client.oauth",
        "mcp_runtime.auth.client.grants",
    ],
    "mcp_runtime: extensions": [
        "mcp_runtime.extensions.tasks",
        "mcp_runtime.extensions.apps",
        "mcp_runtime.extensions.server_card",
    ],
    "mcp_wire: models of 2026-07-28": [f"{WIRE}.models_dataclass"],
    "mcp_wire: calls and methods of 2026-07-28": [f"{WIRE}.calls", f"{WIRE}.methods"],
}
"""Pages of the API reference, with the objects that each shows."""
INHERITED: Final = dict.fromkeys(
    ("mcp_runtime.server.server.Server", "mcp_runtime.auth.client.oauth.OAuth"),
    "    options:\n      inherited_members: true\n",
)
"""Classes whose members stand in a base: decorators are methods of a server."""
LINK: Final = re.compile(r"(\[[^\]]*\]\()([^)\s]+)(\))")
CODE: Final = re.compile(r"`[^`\n]+`")
HEADING: Final = re.compile(r"^#+ (.*)$", re.M)
FENCE: Final = re.compile(r"^```.*?^```$", re.M | re.S)


def main() -> int:
    shutil.rmtree(BUILD, ignore_errors=True)
    if said := broken():
        print("\n".join(said), file=sys.stderr)
        return 1
    pages = BUILD / "pages"
    for name, text in site().items():
        path = pages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shutil.copytree(FOLDER / "img", pages / "img")
    shutil.copytree(FOLDER / "css", pages / "css")
    settings = BUILD / "mkdocs.yml"  # JSON is YAML
    settings.write_text(json.dumps(configuration(), indent=1), encoding="utf-8")
    zensical = Path(sys.executable).with_name("zensical")
    done = subprocess.run([zensical, "build", "--strict", "-f", settings], check=False)
    if done.returncode == 0:
        for name, text in for_models().items():
            (BUILD / "html" / name).write_text(text, encoding="utf-8")
    return done.returncode


# ---- links


def broken() -> list[str]:
    """A sentence for each link, anchor or picture of the pages that leads nowhere."""
    return [
        f"{file.relative_to(ROOT).as_posix()}: {link} leads nowhere"
        for file in (FOLDER / "index.md", *pages())
        for link in links(file.read_text("utf-8"))
        if is_local(link) and not leads(file, link)
    ]


def links(text: str) -> list[str]:
    """The targets of links and pictures; those in code do not count."""
    return [link for _, link, _ in LINK.findall(CODE.sub("", FENCE.sub("", text)))]


def leads(file: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (file.parent / name).resolve() if name else file
    if not target.exists():
        return False
    return not anchor or anchor in anchors(target.read_text("utf-8"))


def anchors(text: str) -> set[str]:
    """The anchors of the headings, as Python-Markdown makes them."""
    named = (re.sub(r"[^\w\s-]", "", heading).strip() for heading in HEADING.findall(text))
    return {re.sub(r"[-\s]+", "-", name.lower()) for name in named}


# ---- pages


def site() -> dict[str, str]:
    """The text of each page of the site, by its path there."""
    written = {address(file): "" for file in (FOLDER / "index.md", *pages())}
    waiting = [FOLDER / "index.md", *pages()]
    while waiting:
        file = waiting.pop()
        text = file.read_text("utf-8") if file.is_file() else listing(file)
        if file.suffix != ".md" and file.is_file():
            text = f"# {file.relative_to(ROOT).as_posix()}\n\n{quoted(file, text)}"
        written[address(file)] = relinked(file, text)
        for target in targets(file, text):
            if address(target) not in written:
                written[address(target)] = ""
                waiting.append(target)
    return written | {f"api/{slug(title)}.md": api(title, names) for title, names in API.items()}


def pages() -> list[Path]:
    return [FOLDER / name for names in NAVIGATION.values() for name in names]


def address(file: Path) -> str:
    """The path on the site of a file or folder of the checkout."""
    if file.is_relative_to(FOLDER) and file.suffix == ".md":
        return file.relative_to(FOLDER).as_posix().lower()
    path = file.relative_to(ROOT).as_posix().lower()
    return f"files/{path.removesuffix('.md').replace('/', '-').replace('.', '-')}.md"


def targets(file: Path, text: str) -> Iterator[Path]:
    """Files of the checkout that a page links to."""
    for _, link, _ in LINK.findall(FENCE.sub("", text)):
        if is_local(link) and not link.startswith("#"):
            path = (file.parent / link.partition("#")[0]).resolve()
            if path.suffix not in (".png", ".svg"):
                yield path


def is_local(link: str) -> bool:
    return not link.startswith(("http://", "https://", "mailto:"))


def relinked(file: Path, text: str) -> str:
    """The text of a page whose links lead to pages of the site. Code blocks stay as they are."""
    here = address(file)

    def moved(match: re.Match[str]) -> str:
        before, link, after = match.groups()
        if not is_local(link) or link.startswith("#"):
            return match[0]
        name, _, anchor = link.partition("#")
        target = (file.parent / name).resolve()
        if target.suffix in (".png", ".svg"):
            place = target.relative_to(FOLDER).as_posix()
        else:
            place = address(target)
        up = "../" * here.count("/")
        return f"{before}{up}{place}{'#' * bool(anchor)}{anchor}{after}"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(
        part if part.startswith("```") else LINK.sub(moved, hatched(part)) for part in parts
    )


def hatched(text: str) -> str:
    """Prose in which a list after a paragraph has the blank line that Python-Markdown wants."""
    return re.sub(r"(?m)^((?!- |\d+\. |\s|\|)\S.*)\n((?:- |1\. ))", r"\1\n\n\2", text)


def quoted(file: Path, text: str) -> str:
    language = {".py": "python", ".ts": "typescript", ".toml": "toml", ".yml": "yaml"}
    return f"````{language.get(file.suffix, 'text')}\n{text}````\n"


def listing(folder: Path) -> str:
    """A page for a folder: the names in it."""
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith((".", "_")))
    title = folder.relative_to(ROOT).as_posix()
    return f"# {title}\n\n" + "".join(f"- `{name}`\n" for name in names)


def slug(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def api(title: str, names: Sequence[str]) -> str:
    """A page that mkdocstrings fills from the docstrings."""
    intro = f"# {title}\n"
    if title.endswith("servers"):
        listed = ", ".join(f"`{name}`" for name in mcp_runtime.__all__)
        intro += f"\n`from mcp_runtime import …` has {listed}.\n"
    return intro + "".join(f"\n::: {name}\n{INHERITED.get(name, '')}" for name in names)


# ---- settings


def configuration() -> dict[str, Any]:
    """The settings of Zensical, which reads those of MkDocs."""
    kinds: list[Any] = [{"Start": "index.md"}]
    for kind, names in NAVIGATION.items():
        entries: list[Any] = [address(FOLDER / name) for name in names]
        if kind == "Reference":
            entries[1:1] = [{"API": [{title: f"api/{slug(title)}.md"} for title in API]}]
        kinds.append({kind: entries})
    options = {
        "show_source": False,
        "show_root_heading": True,
        "show_root_full_path": False,
        "show_symbol_type_heading": True,
        "members_order": "source",
        "show_signature_annotations": True,
        "separate_signature": True,
        "docstring_style": None,
        "heading_level": 2,
        "merge_init_into_class": True,
    }
    python = {"paths": [str(ROOT / name) for name in ("runtime", "generated")], "options": options}
    return {
        "site_name": "mcp-bindgen",
        "site_description": "Servers, clients and types for every revision of MCP.",
        "docs_dir": "pages",
        "site_dir": "html",
        "theme": theme(),
        "extra_css": ["css/site.css"],
        "extra": {"generator": False},
        "plugins": ["search", {"mkdocstrings": {"handlers": {"python": python}}}],
        "markdown_extensions": [
            "tables", {"toc": {"permalink": True}}, "pymdownx.highlight", "pymdownx.superfences",
        ],
        "nav": kinds,
    }  # fmt: skip


def theme() -> dict[str, Any]:
    """No font of another site, and both colour schemes."""
    features = ["navigation.tabs", "navigation.footer", "navigation.top", "content.code.copy",
                "search.highlight", "toc.follow"]  # fmt: skip
    schemes = (("light", "default", "sun", "dark"), ("dark", "slate", "moon", "light"))
    palette = [
        {
            "media": f"(prefers-color-scheme: {name})",
            "scheme": scheme,
            "toggle": {"icon": f"lucide/{icon}", "name": f"Switch to {other} colours"},
        }
        for name, scheme, icon, other in schemes
    ]
    return {"name": "material", "font": False, "features": features, "palette": palette}


# ---- for language models


def for_models() -> dict[str, str]:
    """`llms.txt`, a list of the pages, and `llms-full.txt`, the pages themselves."""
    head = "# mcp-bindgen\n\n> Servers, clients and types for every revision of MCP, in Python.\n"
    parts = [head]
    for kind, names in NAVIGATION.items():
        parts.append(f"\n## {kind}\n\n")
        for name in names:
            text = (FOLDER / name).read_text("utf-8")
            place = address(FOLDER / name).removesuffix(".md")
            parts.append(f"- [{title_of(text)}]({place}/): {summary(text)}\n")
    whole = "\n\n".join(file.read_text("utf-8").strip() for file in (FOLDER / "index.md", *pages()))
    return {"llms.txt": "".join(parts), "llms-full.txt": whole + "\n"}


def title_of(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def summary(text: str) -> str:
    """The first sentence of a page's prose."""
    prose = FENCE.sub("", text).partition("\n")[2]
    paragraphs = (part for part in prose.split("\n\n") if re.match(r"[A-Z`*\[]", part.strip()))
    first = " ".join(next(paragraphs, "").split())
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", first)
    return re.split(r"(?<=\.)\s", plain, maxsplit=1)[0]


if __name__ == "__main__":
    sys.exit(main())
