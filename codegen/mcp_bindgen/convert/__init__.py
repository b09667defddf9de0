"""Plans how messages of adjacent revisions are converted: each member, arm, literal and error."""

from mcp_bindgen.convert.plan import pair_name, plan

__all__ = ["pair_name", "plan"]
