/**
 * Agents: what answers messages. `defineAgent` makes an agent from a function. `createCodingAgent` and
 * `createCommandAgent` run a coding CLI or any program in a sandbox, which asks before it acts.
 * `fromExecutor` runs an executor written for the official SDK, `proxyAgent` republishes an agent that
 * is served elsewhere, and `builtInAgents` need nothing but a name. The engine runs all of them.
 *
 * ```ts
 * export default defineAgent({ name: 'shout', description: 'Says it louder.', run: (turn) => turn.text.toUpperCase() });
 * ```
 */
export type { Agent, SchemaIssue, SchemaResult, StandardSchema } from '#protocol';
export type { Dynamic, SurfaceButtonAction, SurfaceCatalog, SurfaceChildren, SurfaceComponent } from './a2ui/catalog.ts';
export type { SurfaceDefinition, SurfaceOutput } from './a2ui/definition.ts';
export { surface, updateSurface } from './a2ui/surface.ts';
export { type BuiltInAgent, builtInAgents } from './built-in/built-in.ts';
export { CONFORMANCE_PROFILES, type ConformanceOptions, type ConformanceProfile } from './built-in/conformance.ts';
export { type CardDefinition, createCard } from './card.ts';
export { createCodingAgent } from './coding/agent.ts';

export type { CodingAgent, CodingLaunch } from './coding/launch.ts';

export { CODING_AGENTS } from './coding/registry.ts';
export { createCommandAgent } from './command/agent.ts';
export type { CommandOptions } from './command/options.ts';
export type { AgentConversation, ConversationLimits, TrimmedMessages } from './conversation.ts';
export { type AgentDefinition, defineAgent } from './define.ts';
export { type ExecutorOptions, fromExecutor } from './executor/from-executor.ts';
export type { SdkCard, SdkEvent, SdkEventBus, SdkExecutor, SdkRequestContext } from './executor/sdk.ts';
export { type FileContent, file } from './file.ts';
export { type LlmAgentOptions, llmAgent } from './llm/agent.ts';
export { type AiSdkModel, aiSdkModel } from './llm/ai-sdk.ts';
export { type AnthropicEndpoint, anthropicModel } from './llm/anthropic.ts';
export type { ToolApproval } from './llm/call-tool.ts';
export { ModelError, type ModelErrorDetails, type ModelProblem } from './llm/errors.ts';
export type { ModelEndpoint } from './llm/http.ts';
export type { ChatModel, ModelCall, ModelChunk, ModelMessage, ModelRequest, ModelTool } from './llm/model.ts';
export { openAiModel } from './llm/openai.ts';
export type { LlmTool, LlmToolbox, LlmToolCall, LlmToolResult } from './llm/tools.ts';
export type { AskOptions, Content, LastWord, Output } from './outputs.ts';
export { artifact, ask, auth, complete, data, fail, message, reject, status, text } from './outputs.ts';
export { type CardRewriting, PROXIED_CARD, proxyCard } from './proxy/card.ts';
export { type ProxyOptions, proxyAgent } from './proxy/proxy.ts';
export { RUNTIME_EXTENSION, type RunOptions } from './run/agent.ts';
export type { ApprovalPolicy, ApprovalRule, Decision } from './run/policy.ts';
export type { RequestSettings } from './run/request.ts';
export { readRule } from './run/rules.ts';
export { SKILL_SCHEMAS, type SkillDefinition } from './skills.ts';
export type { AgentTurn, Answer, MessageContent } from './turn.ts';
export type { Returned, Yielded } from './yielded.ts';
