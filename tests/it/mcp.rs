//! TODO mcp
