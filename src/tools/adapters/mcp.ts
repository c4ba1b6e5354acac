/**
 * MCP in both directions, with its official SDK: agents as tools of an MCP server, and tools of an MCP
 * server as skills of an agent.
 */

export { type McpAgentOptions, type McpSource, mcpAgent } from './mcp/agent.ts';
export { type McpServerOptions, mcpFetch, mcpMount, serveMcpStdio } from './mcp/serve.ts';
export { mcpSource } from './mcp/source.ts';
