/**
 * The agents room: what runs. `defineAgent` makes an agent from a function; the built-in ones need nothing but a name; an executor
 * written for the official SDK runs as it is; a coding CLI, or any program, runs confined and asks before it acts. It imports the protocol room and is driven by the engine.
 *
 * ```ts
 * export default defineAgent({ name: 'shout', description: 'Says it louder.', run: (turn) => turn.text.toUpperCase() });
 * ```
 */
export type { Agent, SchemaIssue, SchemaResult, StandardSchema } from '#protocol';
export { type BuiltInAgent, builtInAgents } from './built-in/built-in.ts';
export { CONFORMANCE_PROFILES, type ConformanceOptions, type ConformanceProfile } from './built-in/conformance.ts';
export { type CardDefinition, createCard } from './card.ts';
export { createCodingAgent } from './coding/agent.ts';
export { type Chosen, type Configured as ConfiguredAgents, type ConfiguredLaunch, chooseLaunch, knownAgents } from './coding/choose.ts';
export type { CodingAgent, CodingLaunch } from './coding/launch.ts';
export { CODING_AGENTS } from './coding/registry.ts';
export { createCommandAgent } from './command/agent.ts';
export type { CommandOptions } from './command/options.ts';
export { type AgentDefinition, defineAgent } from './define.ts';
export { type ExecutorOptions, fromExecutor } from './executor/from-executor.ts';
export type { SdkCard, SdkEvent, SdkEventBus, SdkExecutor, SdkRequestContext } from './executor/sdk.ts';
export type { AskOptions, Content, LastWord, Output } from './outputs.ts';
export { artifact, ask, auth, complete, data, fail, message, reject, status, text } from './outputs.ts';
export { type CardRewriting, PROXIED_CARD, proxyCard } from './proxy/card.ts';
export { callingContext, linger } from './proxy/context.ts';
export { DEFAULT_PATIENCE, type Patience } from './proxy/follow.ts';
export { type ProxyOptions, proxyAgent } from './proxy/proxy.ts';
export { type Talk, talk } from './proxy/talk.ts';
export { RUNTIME_EXTENSION, type RunOptions } from './run/agent.ts';
export type { ApprovalPolicy, ApprovalRule, Decision } from './run/policy.ts';
export type { RequestSettings } from './run/request.ts';
export { readRule } from './run/rules.ts';
export { SKILL_SCHEMAS, type SkillDefinition } from './skills.ts';
export type { AgentTurn, Answer, Said } from './turn.ts';
export type { Returned, Yielded } from './yielded.ts';
