"""Runs servers and clients written for `mcp` 1.x and `fastmcp`, without a change of their code.

    from mcp_runtime.compat.fastmcp import FastMCP
    from mcp_runtime.compat.mcp.server.fastmcp import Context, FastMCP

The packages `mcp` and `fastmcp` below have the modules, classes and names of the originals, as far
as public servers use them. Nothing else in the runtime imports this package.
"""
