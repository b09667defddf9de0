"""What servers and clients of `mcp` 1.x share."""
