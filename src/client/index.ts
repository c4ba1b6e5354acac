/**
 * The client: calls A2A agents of every version and dialect. It finds the card, chooses interface, binding and dialect, retries where that
 * is safe, and resumes streams. It may import `#protocol` and `#bindings`, and uses web standards only, so it also runs in a browser.
 *
 * ```ts
 * const agent = await A2AClient.connect('https://agent.example');
 * console.log(await agent.send('What can you do?').text());
 * ```
 */

export type { ProtocolBinding } from '#bindings';
export type { StandardSchema } from '#protocol';
export type { Auth, Authenticator, PresentedCredentials, Secret } from './auth/credentials.ts';
export type { SendHandle } from './calls/handle.ts';
export type { Question } from './calls/question.ts';
export { answerText, questionOf } from './calls/question.ts';
export type { CallOptions, Input, MessageLike } from './calls/request.ts';
export { isSettled } from './calls/request.ts';
export type { SendOptions } from './calls/send-options.ts';
export type { SkillFunction, SkillSchemas } from './calls/skills.ts';
export type { ListOptions, PushCalls, TaskList } from './client.ts';
export { A2AClient } from './client.ts';
export type { FoundAgentCard } from './connection/connect.ts';
export { findAgentCard } from './connection/connect.ts';
export type { ConnectionMemory, RememberedEndpoint } from './connection/memory.ts';
export { createMemory } from './connection/memory.ts';
export type { CardFollower } from './discovery/card-follower.ts';
export type { Endpoint, StrictMode } from './discovery/endpoint.ts';
export { CARD_PATHS, readTarget } from './discovery/target.ts';
export type { ClientErrorDetails, ClientErrorKind } from './errors/client-error.ts';
export { ClientError, isClientError } from './errors/client-error.ts';
export { explain } from './errors/explain.ts';
export type { FunctionOptions, OnChunk, OnStatus } from './functions.ts';
export { cancelTask, fetchAgentCard, getTask, listTasks, sendMessage, sendStreamingMessage } from './functions.ts';
export type { CardVerification, ClientOptions, Connection, Interceptor, ServiceDecorator } from './options.ts';
export { Backoff } from './retry/backoff.ts';
export type { RetryPolicy } from './retry/retry.ts';
