"""The tool `assist`: formatting, diagnostics, memory, and MCP tools that the operator has listed."""

from moot.tools.assist.assist import Assistance

__all__ = ["Assistance"]
