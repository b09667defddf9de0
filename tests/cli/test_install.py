"""`install` and `uninstall`: settings of each host in a temporary home, and what they refuse."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import Result

from mcp_bindgen.hosts.table import HOSTS
from tests.support.command import invoke

READ: Final[dict[str, Callable[[str], Any]]] = {"json": json.loads, "toml": tomllib.loads}
FILES: Final = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "gemini": ".gemini/settings.json",
    "vscode": ".config/Code/User/mcp.json",
    "zed": ".config/zed/settings.json",
}
PROJECT: Final = {
    "claude-code": ".mcp.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "gemini": ".gemini/settings.json",
    "vscode": ".vscode/mcp.json",
    "zed": ".zed/settings.json",
}
MEMBER: Final = {"codex": "mcp_servers", "vscode": "servers", "zed": "context_servers"}
REFERENCE: Final = {
    "claude-code": "${KEY}",
    "cursor": "${env:KEY}",
    "gemini": "${KEY}",
    "vscode": "${env:KEY}",
}
TYPED: Final = ("claude-code", "vscode")
URL: Final = "https://example.com/mcp"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder, with no host's command on the path, and a server in the working folder."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "weather.py").write_text("")
    monkeypatch.chdir(work)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path


def install(host: str, *words: str) -> Result:
    return invoke("install", "--client", host, "--yes", *words)


def settings(path: Path) -> Any:
    return READ[{".toml": "toml"}.get(path.suffix, "json")](path.read_text())


def test_each_host_has_a_row_here() -> None:
    assert FILES.keys() == HOSTS.keys()


@pytest.mark.parametrize("host", HOSTS)
def test_a_server_gets_into_the_settings_and_out_again(host: str, home: Path) -> None:
    done = install(host, "weather.py")
    assert done.exit_code == 0, done.stderr
    path = home / FILES[host]
    entry: dict[str, Any] = {"command": sys.executable, "args": [str(home / "work/weather.py")]}
    if host in TYPED:
        entry = {"type": "stdio", **entry}
    assert settings(path) == {MEMBER.get(host, "mcpServers"): {"weather": entry}}
    assert "weather" in done.stdout
    again = install(host, "weather.py")
    assert (again.exit_code, again.stdout) == (0, f"{HOSTS[host].title} has weather already\n")
    gone = invoke("uninstall", "--client", host, "--yes", "weather")
    assert gone.exit_code == 0, gone.stderr
    assert settings(path).get(MEMBER.get(host, "mcpServers"), {}) == {}
    missing = invoke("uninstall", "--client", host, "--yes", "weather")
    assert missing.exit_code == 2
    assert "has no server 'weather'\nServers there: none." in missing.stderr


@pytest.mark.parametrize("host", PROJECT)
def test_the_settings_of_a_project_are_in_its_folder(host: str, home: Path) -> None:
    assert install(host, "--project", "weather.py").exit_code == 0
    assert (home / "work" / PROJECT[host]).is_file()
    assert not (home / FILES[host]).exists()


@pytest.mark.parametrize("host", HOSTS)
def test_a_url_is_written_as_the_host_wants_it(host: str, home: Path) -> None:
    done = install(host, URL)
    if host == "claude-desktop":
        assert done.exit_code == 2
        assert "takes no URL in its settings file\nAdd it in Settings, Connectors." in done.stderr
        return
    assert done.exit_code == 0, done.stderr
    entry = {"httpUrl" if host == "gemini" else "url": URL}
    if host in TYPED:
        entry = {"type": "http", **entry}
    (servers,) = settings(home / FILES[host]).values()
    assert servers == {"example-com": entry}


@pytest.mark.parametrize("host", HOSTS)
def test_a_secret_is_passed_by_reference_where_the_host_can(host: str, home: Path) -> None:
    done = install(host, "--env", "KEY", "--env", "PLAIN=1", "weather.py")
    if host in ("claude-desktop", "zed"):
        assert done.exit_code == 2
        assert "takes no variable of its environment by reference" in done.stderr
        return
    (servers,) = settings(home / FILES[host]).values()
    if host == "codex":
        assert servers["weather"]["env_vars"] == ["KEY"]
        assert servers["weather"]["env"] == {"PLAIN": "1"}
    else:
        assert servers["weather"]["env"] == {"KEY": REFERENCE[host], "PLAIN": "1"}


def test_a_command_gets_full_paths(home: Path) -> None:
    assert install("cursor", "--name", "w", "--", "python", "-u", "weather.py").exit_code == 0
    entry = settings(home / FILES["cursor"])["mcpServers"]["w"]
    python = Path(sys.executable).with_name("python")
    assert entry == {"command": str(python), "args": ["-u", str(home / "work/weather.py")]}


# ---- the change


def test_other_settings_and_comments_stay_and_a_copy_is_kept(home: Path) -> None:
    path = home / FILES["zed"]
    path.parent.mkdir(parents=True)
    old = '{\n  // my theme\n  "theme": "One",  // the best\n}\n'
    path.write_text(old)
    path.chmod(0o640)
    assert install("zed", "weather.py").exit_code == 0
    new = path.read_text()
    assert new.startswith(
        '{\n  // my theme\n  "theme": "One",  // the best\n  "context_servers": {\n'
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.with_name("settings.json.bak").read_text() == old
    assert invoke("uninstall", "--client", "zed", "--yes", "weather").exit_code == 0
    assert path.with_name("settings.json.bak2").read_text() == new


def test_settings_stay_whole_where_the_write_fails(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / FILES["cursor"]
    path.parent.mkdir(parents=True)
    path.write_text('{"mcpServers": {}}')

    def refuse(*names: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    failed = install("cursor", "weather.py")
    assert failed.exit_code != 0
    assert "No space left on device" in failed.stderr
    assert path.read_text() == '{"mcpServers": {}}'
    names = {each.name.removesuffix(".bak") for each in path.parent.iterdir()}
    assert names == {path.name}


def test_the_comments_of_codex_stay(home: Path) -> None:
    path = home / FILES["codex"]
    path.parent.mkdir()
    path.write_text('model = "x"  # mine\n\n[mcp_servers.other]\ncommand = "o"  # theirs\n')
    assert install("codex", "weather.py").exit_code == 0
    assert "# mine" in path.read_text()
    assert "# theirs" in path.read_text()
    assert settings(path)["mcp_servers"].keys() == {"other", "weather"}


def test_codex_without_the_library_names_the_extra(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tomlkit", None)
    done = install("codex", "weather.py")
    assert done.exit_code == 2
    assert "changing TOML needs tomlkit\npip install 'mcp-bindgen[hosts]'" in done.stderr


def test_only_changed_lines_are_shown(home: Path) -> None:
    path = home / FILES["cursor"]
    path.parent.mkdir()
    path.write_text('{\n  "mcpServers": {\n    "a": {"env": {"K": "secret"}}\n  }\n}\n')
    done = install("cursor", "weather.py")
    assert "weather" in done.stdout
    assert '"command"' in done.stdout
    assert path.read_text().count("secret") == 1
    assert done.stdout.count("secret") == 2  # its line gets a comma, so that it is shown twice


def test_a_dry_run_writes_nothing(home: Path) -> None:
    done = invoke("install", "--client", "cursor", "--dry-run", "weather.py")
    assert done.exit_code == 0
    assert "+" in done.stdout
    assert not (home / FILES["cursor"]).exists()


def test_without_a_terminal_and_without_consent_nothing_is_written(home: Path) -> None:
    done = invoke("install", "--client", "cursor", "weather.py")
    assert done.exit_code == 2
    assert "nobody can be asked here\n--yes agrees" in done.stderr
    assert not (home / FILES["cursor"]).exists()


def test_a_link_to_the_settings_stays_a_link(home: Path) -> None:
    real = home / "dotfiles.json"
    real.write_text("{}")
    (home / ".cursor").mkdir()
    (home / FILES["cursor"]).symlink_to(real)
    assert install("cursor", "weather.py").exit_code == 0
    assert (home / FILES["cursor"]).is_symlink()
    assert "weather" in real.read_text()


# ---- the host's own command


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        (["weather.py"], "mcp add --scope user weather -- {python} {file}"),
        (["--project", "weather.py"], "mcp add --scope project weather -- {python} {file}"),
        ([URL], f"mcp add --scope user --transport http example-com {URL}"),
        (
            ["--env", "KEY", "weather.py"],
            "mcp add --scope user weather --env KEY=${{KEY}} -- {python} {file}",
        ),
    ],
)
def test_claude_code_adds_the_server_itself(words: list[str], typed: str, home: Path) -> None:
    tool = home / "claude"
    tool.write_text(
        f"#!{sys.executable}\nimport sys\n"
        f"open({str(home / 'log')!r}, 'w').write(' '.join(sys.argv[1:]))\n"
    )
    tool.chmod(0o755)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", f"{home}:{Path(sys.executable).parent}")
        done = install("claude-code", *words)
    assert done.exit_code == 0, done.stderr
    file = home / "work/weather.py"
    assert (home / "log").read_text() == typed.format(python=sys.executable, file=file)
    assert not (home / FILES["claude-code"]).exists()


# ---- what is refused


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--client", "cursor", "missing.py"], "there is no file missing.py"),
        (["--client", "cursor", "--", "no-such-program"], "there is no program no-such-program"),
        (["--client", "cursor", "--name", "a b", "weather.py"], "'a b' cannot be the name of"),
        (["--client", "cursor", "ftp://h/mcp"], "begins with http:// or https://"),
        (["--client", "cursor", "--env", "=1", "weather.py"], "a variable is NAME or NAME=VALUE"),
        (["--client", "cursor", "--env", "K", URL], "variables are for a command"),
        (["--client", "curser", "weather.py"], "'curser' is not one of"),
        (["--client", "claude-desktop", "--project", "weather.py"], "no settings of a project"),
    ],
)
def test_a_mistake_is_one_message(words: list[str], said: str, home: Path) -> None:
    done = invoke("install", "--yes", *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "mcpServers is not an object"),
        ('{"mcpServers": []}', "mcpServers is not an object"),
        ("{", "mcp.json: 1:2: expected a name in double quotes"),
        ('{"a": 1 "b": 2}', "mcp.json: 1:9: expected `,` or `}`"),
        ('{"a": 1, "a": 2}', "expected a name which is not there yet"),
        ("[" * 200, "expected at most 100 levels"),
        (" " * (4 << 20) + "{}", "is larger than 4194304 bytes"),
    ],
)
def test_settings_that_cannot_be_read_stay_as_they_are(text: str, said: str, home: Path) -> None:
    path = home / FILES["cursor"]
    path.parent.mkdir()
    path.write_text(text)
    done = install("cursor", "weather.py")
    assert done.exit_code == 2
    assert said in done.stderr
    assert path.read_text() == text
