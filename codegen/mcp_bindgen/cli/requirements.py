"""Names the package to install for an import that `mcp` or `fastmcp` used to bring along."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["came_with", "install_hint"]

CAME_WITH: Final[Mapping[str, Mapping[str, str]]] = {
    "mcp": {
        "anyio": "anyio",
        "dotenv": "python-dotenv",
        "httpx": "httpx",
        "httpx_sse": "httpx-sse",
        "jsonschema": "jsonschema",
        "jwt": "mcp-bindgen-runtime[auth]",
        "multipart": "python-multipart",
        "pydantic": "mcp-bindgen-runtime[pydantic]",
        "pydantic_core": "mcp-bindgen-runtime[pydantic]",
        "pydantic_settings": "pydantic-settings",
        "python_multipart": "python-multipart",
        "sse_starlette": "sse-starlette",
        "starlette": "starlette",
        "typer": "typer",
        "typing_extensions": "typing-extensions",
        "typing_inspection": "typing-inspection",
        "uvicorn": "mcp-bindgen-runtime[http]",
    },
    "fastmcp": {
        "authlib": "authlib",
        "cyclopts": "cyclopts",
        "email_validator": "email-validator",
        "exceptiongroup": "exceptiongroup",
        "jsonref": "jsonref",
        "key_value": "py-key-value-aio",
        "openapi_pydantic": "openapi-pydantic",
        "platformdirs": "platformdirs",
        "pyperclip": "pyperclip",
        "rich": "rich",
        "websockets": "websockets",
        "yaml": "pyyaml",
    },
}
"""By package, the modules of its dependencies, each with the requirement that brings it."""


def came_with(module: str) -> tuple[str, str] | None:
    """Return the package which brought a module along, and the requirement that brings it now.

    Return None for a module that neither package brought.
    """
    top = module.partition(".")[0]
    for package, modules in CAME_WITH.items():
        if top in modules:
            return package, modules[top]
    return None


def install_hint(error: BaseException) -> str:
    """Return the remedy for an import of a module that came along; empty for other errors."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    origin = came_with(error.name)
    if origin is None:
        return ""
    package, requirement = origin
    return (
        f"{error.name} came along with the package {package}, and this runtime does not bring it. "
        f"Install it: pip install '{requirement}'"
    )
