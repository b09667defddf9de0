"""`mcp-bindgen uninstall`: removes a server from the settings of a host."""

from mcp_bindgen.cli.install.command import uninstall as command

__all__ = ["command"]
