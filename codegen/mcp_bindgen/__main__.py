"""`python -m mcp_bindgen` is `mcp-bindgen`."""

from mcp_bindgen.cli import main

if __name__ == "__main__":
    main(prog_name="mcp-bindgen")
