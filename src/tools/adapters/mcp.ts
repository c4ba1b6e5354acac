/** MCP both ways, by its official SDK: agents as the tools of an MCP server, and an MCP server's tools as the skills of an agent. */

export { type McpAgentOptions, type McpSource, mcpAgent } from './mcp/agent.ts';
export { type McpServerOptions, mcpFetch, mcpMount, serveMcpStdio } from './mcp/serve.ts';
export { mcpSource } from './mcp/source.ts';
