"""Authorization of servers."""
