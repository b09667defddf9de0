"""Adjacent revisions to a plan: what happens to every member, arm, literal and error code."""

from mcp_bindgen.convert.plan import pair_name, plan

__all__ = ["pair_name", "plan"]
