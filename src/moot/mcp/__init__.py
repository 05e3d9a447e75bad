"""moot for MCP clients: debates as tools and resources. docs/mcp.md describes it."""
