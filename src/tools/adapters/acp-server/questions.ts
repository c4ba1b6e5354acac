import type { AgentContext, ClientCapabilities, ElicitationSchema, RequestPermissionRequest } from '@agentclientprotocol/sdk';
import { CreateElicitationResponse, methods } from '@agentclientprotocol/sdk';
import type { Choice, Json, Message, Part, TaskStatus } from '#protocol';
import { createDataPart, getChoicesFromMessage, getTextFromMessage, isDataPart, isObject } from '#protocol';
import { kindOf } from './updates.ts';

/** Who is asked. */
export interface Asking {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly sessionId: string;
  readonly taskId: string;
  readonly signal: AbortSignal;
}

/** What came of a question. `later`: the editor can't ask, so the next prompt is the answer. */
export type Answered =
  | { readonly kind: 'answer'; readonly parts: readonly Part[] }
  | { readonly kind: 'declined' | 'canceled' }
  | { readonly kind: 'later' };

/** Asks the user of the editor: an approval as a permission request, anything else as a form. */
export async function askUser(asking: Asking, status: TaskStatus): Promise<Answered> {
  const { message, state } = status;
  if (message === undefined) return { kind: 'later' };
  if (state === 'TASK_STATE_AUTH_REQUIRED') return await askSignIn(asking, message);
  const choices = getChoicesFromMessage(message);
  const isApproval = choices.length > 0 && choices.every(({ kind }) => kind !== undefined);
  if (isApproval) return await askPermission(asking, message, choices);
  if (!hasForms(asking.capabilities)) return { kind: 'later' };
  return await askForm(asking, message, choices);
}

function hasForms({ elicitation }: ClientCapabilities): boolean {
  return elicitation?.form !== undefined && elicitation.form !== null;
}

async function askPermission(
  { client, sessionId, taskId, signal }: Asking,
  message: Message,
  choices: readonly Choice[],
): Promise<Answered> {
  const about = approvalIn(message);
  const title = about['title'];
  const request: RequestPermissionRequest = {
    sessionId,
    toolCall: {
      toolCallId: `${taskId}:${message.messageId}`,
      title: typeof title === 'string' ? title : getTextFromMessage(message),
      kind: kindOf(typeof about['kind'] === 'string' ? about['kind'] : undefined),
      status: 'pending',
      ...(about['input'] === undefined ? {} : { rawInput: about['input'] }),
    },
    options: choices.map(({ optionId, name, kind = 'allow_once' }) => ({ optionId, name, kind })),
  };
  const stopping = { cancellationSignal: signal, stopWaitingOnCancel: true };
  const { outcome } = await client.request(methods.client.session.requestPermission, request, stopping);
  if (outcome.outcome === 'cancelled') return { kind: 'canceled' };
  return { kind: 'answer', parts: [createDataPart({ optionId: outcome.optionId })] };
}

/** The data part of a coding agent's approval, with the tool's name, kind and input. */
function approvalIn({ parts }: Message): Readonly<Record<string, Json>> {
  for (const part of parts) if (isDataPart(part) && isObject(part.data) && part.data['options'] !== undefined) return part.data;
  return {};
}

const TEXT: ElicitationSchema = { type: 'object', properties: { answer: { type: 'string', title: 'Answer' } }, required: ['answer'] };

async function askForm({ client, sessionId, signal }: Asking, message: Message, choices: readonly Choice[]): Promise<Answered> {
  const oneOf = choices.map(({ optionId, name }) => ({ const: optionId, title: name }));
  const chosen: ElicitationSchema = {
    type: 'object',
    properties: { optionId: { type: 'string', title: 'Choice', oneOf } },
    required: ['optionId'],
  };
  const response = await client.request(
    methods.client.elicitation.create,
    { mode: 'form', sessionId, message: getTextFromMessage(message), requestedSchema: choices.length === 0 ? TEXT : chosen },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (CreateElicitationResponse.isAccept(response)) {
    const { content } = response;
    const answer = content?.['answer'];
    if (choices.length === 0)
      return { kind: 'answer', parts: [{ text: typeof answer === 'string' ? answer : JSON.stringify(content ?? {}) }] };
    return { kind: 'answer', parts: [createDataPart({ optionId: String(content?.['optionId'] ?? '') })] };
  }
  return { kind: response.action === 'decline' ? 'declined' : 'canceled' };
}

/** Opens the page to sign in at, if the editor can. The answer tells the agent to look again. */
async function askSignIn({ client, capabilities, sessionId, taskId, signal }: Asking, message: Message): Promise<Answered> {
  const url = urlIn(message);
  const { elicitation } = capabilities;
  if (url === undefined || elicitation?.url === undefined || elicitation.url === null) return { kind: 'later' };
  const response = await client.request(
    methods.client.elicitation.create,
    { mode: 'url', sessionId, message: getTextFromMessage(message), url, elicitationId: `${taskId}:${message.messageId}` },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  return CreateElicitationResponse.isAccept(response) ? { kind: 'answer', parts: [{ text: 'done' }] } : { kind: 'canceled' };
}

function urlIn(message: Message): string | undefined {
  for (const { url, data } of message.parts) {
    const given = url ?? (isObject(data) ? data['url'] : undefined);
    if (typeof given === 'string') return given;
  }
  return /https?:\/\/[^\s<>"')]+/.exec(getTextFromMessage(message))?.[0];
}
