"""The files with which a project is published: the registry's entry, the marker, the bundle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest
import yaml

from mcp_bindgen.scaffold.answers import Answers
from mcp_bindgen.scaffold.render import project, templates
from tests.support.official_files import SHARED
from tests.support.pages import Page
from tests.support.projects import WAYS, answers, run, write

ROOT: Final = Path(__file__).parents[2]
SCHEMA: Final = SHARED / "registry" / "server.schema.json"
STDIO, HTTP, BOTH = (answers("weather", transports=ways) for ways in WAYS)
PROTECTED: Final = answers("weather", transports=("http",), auth="bearer")
KINDS: Final = (STDIO, HTTP, BOTH, PROTECTED)
NEEDED: Final = {"manifest_version", "name", "version", "description", "author", "server"}
"""The members that the documentation of a bundle's manifest requires."""


@cache
def files(chosen: Answers) -> Mapping[str, str]:
    """A project without its protocol, which takes seconds to collect."""
    return project(chosen, templates(tools=False), {})


def parsed(chosen: Answers, name: str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(files(chosen)[name])
    return whole


@pytest.mark.parametrize("chosen", KINDS, ids=str)
def test_the_entry_of_the_registry_is_valid(chosen: Answers) -> None:
    if not SCHEMA.is_file():
        pytest.skip("the registry's schema is not in ../shared/official/registry")
    schema = json.loads(SCHEMA.read_text("utf-8"))
    entry = parsed(chosen, "server.json")
    assert entry["$schema"] == schema["$id"]
    judge = jsonschema_rs.validator_for(schema, validate_formats=True)
    assert [error.message for error in judge.iter_errors(entry)] == []
    assert not judge.is_valid({**entry, "name": "weather"})
    assert not judge.is_valid({**entry, "packages": [{**entry["packages"][0], "transport": {}}]})


@pytest.mark.parametrize("chosen", KINDS, ids=str)
def test_entry_marker_and_package_tell_one_name_and_version(chosen: Answers) -> None:
    body = tomllib.loads(files(chosen)["pyproject.toml"])["project"]
    entry = parsed(chosen, "server.json")
    (package,) = entry["packages"]
    assert f"\n<!-- mcp-name: {entry['name']} -->\n" in files(chosen)["README.md"]
    assert entry["name"] == "io.github.OWNER/weather"
    assert entry["version"] == package["version"] == body["version"]
    assert entry["description"] == body["description"]
    assert package["registryType"] == "pypi"
    assert package["identifier"] == body["name"]
    assert package["identifier"] in body["scripts"], "uvx runs the script called as the package"


def test_the_entry_names_the_transport_that_the_command_serves() -> None:
    packages = {chosen: parsed(chosen, "server.json")["packages"][0] for chosen in KINDS}
    assert packages[STDIO]["transport"] == packages[BOTH]["transport"] == {"type": "stdio"}
    url = {"type": "streamable-http", "url": "http://127.0.0.1:8000/mcp"}
    assert packages[HTTP]["transport"] == packages[PROTECTED]["transport"] == url
    assert "environmentVariables" not in packages[HTTP]
    variables = packages[PROTECTED]["environmentVariables"]
    read = files(PROTECTED)["src/weather/auth.py"]
    assert [row["name"] in read for row in variables] == [True] * 3
    assert all(row["isRequired"] for row in variables)


def test_a_manifest_has_the_members_that_its_version_documents() -> None:
    body = tomllib.loads(files(STDIO)["pyproject.toml"])["project"]
    manifest = parsed(STDIO, "manifest.json")
    assert manifest.keys() == NEEDED | {"compatibility"}
    assert (manifest["manifest_version"], manifest["name"]) == ("0.4", "weather")
    assert manifest["version"] == body["version"]
    assert manifest["author"].keys() == {"name"}
    server = manifest["server"]
    assert server.keys() == {"type", "entry_point", "mcp_config"}
    assert (server["type"], server["mcp_config"]["command"]) == ("uv", "uv")
    assert server["mcp_config"]["args"][-2:] == ["${__dirname}", server["entry_point"]]
    assert manifest["compatibility"]["runtimes"] == {"python": body["requires-python"]}


def test_only_what_a_host_can_start_has_a_bundle() -> None:
    for chosen in KINDS:
        has_stdio = "stdio" in chosen.transports
        assert ("manifest.json" in files(chosen)) == has_stdio
        assert ("clients/bundle.py" in files(chosen)) == has_stdio
        assert ("\nbundle:" in files(chosen)["Makefile"]) == has_stdio
        assert ("make bundle" in files(chosen)["README.md"]) == has_stdio


def test_make_bundle_packs_what_the_manifest_starts(tmp_path: Path) -> None:
    write({**files(STDIO), "src/weather/__pycache__/a.pyc": ""}, tmp_path / "weather")
    make = ("-C", "weather", "bundle", f"PYTHON={sys.executable}")
    done = run(Path("make"), *make, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "weather/dist/weather.mcpb") as bundle:
        packed = {name for name in bundle.namelist() if not name.endswith("/")}
        manifest = json.loads(bundle.read("manifest.json"))
    assert manifest == parsed(STDIO, "manifest.json")
    tops = ("src/", "clients/")
    meant = {path for path in files(STDIO) if path.startswith(tops)}
    assert packed == meant | {"manifest.json", "pyproject.toml", "README.md"}
    assert manifest["server"]["entry_point"] in packed


def test_the_page_shows_the_entry_that_is_written() -> None:
    path = ROOT / "docs" / "SCAFFOLD.md"
    shown = [b.text for b in Page(path, path.read_text("utf-8")).blocks if b.language == "json"]
    assert [json.loads(text) for text in shown] == [parsed(STDIO, "server.json")]


# ---- the release


def workflow() -> dict[Any, Any]:
    whole: dict[Any, Any] = yaml.safe_load(files(STDIO)[".github/workflows/release.yml"])
    return whole


def test_a_tag_is_built_then_published_then_registered() -> None:
    whole = workflow()
    assert whole[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads the key `on` as true
    jobs = whole["jobs"]
    assert {name: job.get("needs") for name, job in jobs.items()} == {
        "build": None,
        "pypi": "build",
        "registry": "pypi",
    }
    trusted = {name for name, job in jobs.items() if "id-token" in job.get("permissions", {})}
    assert trusted == {"pypi", "registry"}
    assert whole["permissions"] == {"contents": "read"}
    runs = [step.get("run", "") for step in jobs["registry"]["steps"]]
    assert runs[-2:] == ["./mcp-publisher login github-oidc", "./mcp-publisher publish"]
    assert "secrets." not in files(STDIO)[".github/workflows/release.yml"]


@pytest.mark.parametrize(("tag", "said"), [("v0.1.0", ""), ("v0.2.0", "the tag is v0.2.0")])
def test_only_the_version_of_the_project_is_released(tag: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text(files(STDIO)["server.json"], "utf-8")
    (check,) = [s for s in workflow()["jobs"]["build"]["steps"] if "name" in s]
    done = subprocess.run(
        ["bash", "-ec", f"PATH={Path(sys.executable).parent}:$PATH; {check['run']}"],
        cwd=tmp_path,
        env={**os.environ, "GITHUB_REF_NAME": tag},
        capture_output=True,
        text=True,
    )
    assert (done.returncode == 0) == (said == "")
    assert said in done.stderr
    assert parsed(STDIO, "server.json")["version"] == "0.1.0"
