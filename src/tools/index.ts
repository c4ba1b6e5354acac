/**
 * Agents as tools for language models, and tools as agents. A skill of an agent becomes a name, a JSON
 * Schema and a function, in the forms of the AI SDK, LangChain and OpenAI. A registry of tools becomes
 * a card. Rules become an agent for tests. MCP is in `parley-a2a/tools/mcp`.
 *
 * ```ts
 * const tools = await toolsOf([{ url: 'https://agent.example' }]);
 * const outcome = await tools[0].execute({ query: 'hello' });
 * ```
 */

export type { AgentTool, AgentToolOptions, Reachable, Remote, ToolCallOptions } from './agent-tools.ts';
export { agentTools, remote } from './agent-tools.ts';
export { type AiTool, toAiTools } from './ai.ts';
export { type CardFromTools, DEFAULT_SKILLS, generateAgentCard, type RegisteredTool } from './card-from-tools.ts';
export type { AgentConnectOptions, AgentTarget } from './connect.ts';
export { reachAgent, remoteAgent, toolsOf } from './connect.ts';
export { type LangChainFields, toLangChainTools } from './langchain.ts';
export { type MockAgent, type MockCall, type MockOptions, mockAgent } from './mock/mock.ts';
export { type MockExchange, recording } from './mock/record.ts';
export type { MockFailure, MockMatch, MockReply, MockRule } from './mock/rules.ts';
export { NAMING_SCHEMES, type NamingScheme, type SkillFilter } from './names.ts';
export { callOpenAiTool, type OpenAiTool, type OpenAiToolCall, toOpenAiTools } from './openai.ts';
export { outcomeJson, type ToolOutcome } from './outcome.ts';
export { agentToolbox, joinToolboxes } from './toolbox.ts';
export { type CortexAgentTarget, createA2AToolWrapper, type WrappedError, type WrappedResult, type WrappedTool } from './wrapper.ts';
