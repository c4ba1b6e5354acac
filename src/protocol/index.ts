/**
 * The A2A data model (A2A 1.0 JSON), helpers to build and read it, the codecs of every dialect, signed
 * cards and signed webhooks. Runs wherever web standards do: Node, Bun, Deno, Workers and browsers.
 *
 * ```ts
 * import { createUserMessage, getTextFromMessage } from 'parley-a2a/protocol';
 *
 * const message = createUserMessage('hello');
 * console.log(getTextFromMessage(message)); // hello
 * ```
 */
export type { Agent, AgentOutput, Turn } from './agent.ts';
export type { AgentCard, AgentInterface, AgentSkill } from './card.ts';
export { createChoicesPart, getChoicesFromMessage } from './choices.ts';
export { createRegistry, type Registry } from './dialects/create-registry.ts';
export { DEFAULT_READ_LIMITS, type Dialect } from './dialects/dialect.ts';
export { interfacesFor } from './dialects/interfaces.ts';
export { dialectLosses } from './dialects/loss-table.ts';
export { DIALECTS } from './dialects/registry.ts';
export { negotiateCard, writeCard } from './dialects/superset.ts';
export { A2AError, type ErrorKind, isA2AError } from './errors.ts';
export type { EventStream, Logged, TaskEvent } from './events.ts';
export { foldEvent } from './fold.ts';
export { type ContextId, contextId, type DialectId, dialectId, type MessageId, messageId, type TaskId, taskId } from './ids.ts';
export type { Json, JsonObject, Metadata } from './json.ts';
export { llmContentToParts, partsToLlmContent } from './llm.ts';
export {
  createAgentDataMessage,
  createAgentPartsMessage,
  createAgentTextMessage,
  createUserMessage,
  getDataPartsFromMessage,
  getFilePartsFromMessage,
  getTextFromMessage,
  type Message,
} from './message.ts';
export {
  createDataPart,
  createFilePartFromBytes,
  createFilePartFromUri,
  createTextPart,
  getBytesFromFilePart,
  getDataFromDataPart,
  getUriFromFilePart,
  isDataPart,
  isFilePart,
  isTextPart,
  type Part,
} from './parts.ts';
export { randomIds } from './ports.ts';
export type { PushConfig } from './push.ts';
export type { SendRequest, SendResult } from './requests.ts';
export { type A2AService, type CallContext, LOCAL_PRINCIPAL, type Principal } from './service.ts';
export { type CardSigner, type CardVerifier, signCard, verifyCard } from './signing.ts';
export { isInterrupted, isTerminal, type TaskState } from './states.ts';
export type { Artifact, Task, TaskStatus } from './task.ts';
export { translate } from './translate.ts';
export { type VerifiedWebhook, verifyWebhook, WebhookError } from './webhooks.ts';
