/**
 * The client room: reach any A2A agent, whatever it speaks. It finds the card, chooses interface, binding and dialect, retries
 * where that is safe and heals streams. It imports `#protocol` and `#bindings` and uses web standards alone, so it runs in a browser.
 *
 * ```ts
 * const agent = await A2AClient.connect('https://agent.example');
 * console.log(await agent.send('What can you do?').text());
 * ```
 */

export type { StandardSchema } from '#protocol';
export type { Auth, Authenticator, Presented, Secret } from './auth.ts';
export { reveal, wantedBy } from './auth.ts';
export type { CallOptions, Input, MessageLike } from './calls.ts';
export { isAtRest } from './calls.ts';
export type { ListOptions, PushCalls, TaskList } from './client.ts';
export { A2AClient } from './client.ts';
export type { FoundAgentCard } from './connect.ts';
export { findAgentCard } from './connect.ts';
export type { ClientErrorDetails, ClientErrorKind } from './errors.ts';
export { CLIENT_ERRORS, ClientError, isClientError } from './errors.ts';
export { explain } from './explain.ts';
export type { FunctionOptions, OnChunk, OnStatus } from './functions.ts';
export { cancelTask, fetchAgentCard, getTask, listTasks, sendMessage, sendStreamingMessage } from './functions.ts';
export type { Question, SendHandle, SendOptions } from './handle.ts';
export { answerText, questionOf } from './handle.ts';
export type { Binding, ConnectionMemory, RememberedWay } from './memory.ts';
export { createMemory } from './memory.ts';
export type { CardVerification, ClientOptions, Connection, Interceptor, ServiceDecorator } from './options.ts';
export type { RetryPolicy } from './retry.ts';
export type { SkillFunction, SkillSchemas } from './skills.ts';
export { CARD_PATHS, readTarget } from './target.ts';
