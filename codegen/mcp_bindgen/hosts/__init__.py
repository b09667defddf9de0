"""Where each host (Claude Code, Cursor, VS Code …) keeps its list of servers, and in which form."""
