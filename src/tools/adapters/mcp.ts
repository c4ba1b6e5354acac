/**
 * MCP in both directions, with its official SDK: agents as tools of an MCP server, and tools of an MCP
 * server as skills of an agent.
 */

export { type McpAgentOptions, mcpAgent } from './mcp/agent.ts';
export type { McpSource } from './mcp/connection.ts';
export { type McpServerOptions, mcpFetch, mcpMount, serveMcpStdio } from './mcp/serve.ts';
export { mcpSource } from './mcp/source.ts';
export { type McpToolboxOptions, mcpToolbox } from './mcp/toolbox.ts';
