"""Traces of the wire as JSON lines, with secrets left out."""

from mcp_runtime.shared.trace import SECRET, TraceFile, redacted

__all__ = ["SECRET", "TraceFile", "redacted"]
