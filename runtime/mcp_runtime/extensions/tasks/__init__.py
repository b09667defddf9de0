"""The extension Tasks: calls of tools that go on after their answer. Clients poll them."""

from mcp_runtime.extensions.tasks.client import ClientTasks, TaskCancelled, TaskHandle
from mcp_runtime.extensions.tasks.server import Decide, TaskOption, Tasks

__all__ = ["ClientTasks", "Decide", "TaskCancelled", "TaskHandle", "TaskOption", "Tasks"]
