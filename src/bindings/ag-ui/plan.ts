import type { A2AService, CallContext, ContextId, Json, JsonObject, Message, Part, SendRequest, Task } from '#protocol';
import { A2AError, a2uiParts, a2uiUri, callerToolsIn, contextId, isA2AError, isInterrupted, isTerminal, messageId } from '#protocol';
import { answerParts, declineParts, taskOfResume } from './interrupts.ts';
import type { NewMessage, Resume, RunInput } from './read.ts';
import { messageIdFor, taskMessages, threadMessage } from './thread.ts';

/** What a run does. */
export type RunPlan =
  /** Sends a message, and streams what follows. `known`: the task that it continues. */
  | { readonly kind: 'send'; readonly request: SendRequest; readonly known?: Task }
  /** Cancels a task whose question was declined. */
  | { readonly kind: 'cancel'; readonly task: Task }
  /** The front end sent no new message: shows the thread and follows the task that is running. */
  | { readonly kind: 'open'; readonly messages: readonly JsonObject[]; readonly current: Task | undefined };

/** What planning needs. */
export interface PlanParts {
  readonly service: A2AService;
  readonly ctx: CallContext;
  readonly nextId: () => string;
  /** The agent shows A2UI surfaces. */
  readonly hasSurfaces: boolean;
}

/** The metadata member with the front end's tools, context, state and forwarded properties. */
const AG_UI_METADATA = 'urn:parley:ag-ui:v1';

/** How much of a thread is shown when it is opened again. */
const THREAD_MESSAGES_MAX = 500;
const THREAD_CHARS_MAX = 2_097_152;

/**
 * Decides what a run does: the answer to a question, a new message, or nothing but the thread as it is.
 * A message without `resume` answers the task that waits, because a chat box knows no interrupts.
 */
export async function planRun(parts: PlanParts, input: RunInput): Promise<RunPlan> {
  const { messages, resume } = input;
  if (resume.length === 0 && messages.length === 0 && input.action === undefined) return await openThread(parts, input);
  const recent = await tasksOf(parts, { contextId: contextId(input.threadId), pageSize: 20 });
  const waiting = recent.filter(({ status }) => isInterrupted(status.state));
  if (resume.length > 0) return await planResume(parts, input, recent);
  const [asking] = waiting;
  const told = asking === undefined ? [] : toolResults(asking, messages);
  // A click comes with the history as it is: its last message is an old one.
  const fresh = input.action === undefined ? freshMessages(input, recent) : [];
  const said = [...actionParts(input), ...told, ...fresh.flatMap((message) => (message.role === 'user' ? message.parts : []))];
  if (said.length === 0) return await openThread(parts, input);
  const last = input.action === undefined ? fresh.at(-1)?.id : undefined;
  return {
    kind: 'send',
    request: requestOf(parts, input, {
      parts: said,
      task: asking,
      id: last === undefined ? undefined : messageIdFor(input.threadId, last),
    }),
    ...(asking === undefined ? {} : { known: await whole(parts, asking) }),
  };
}

/**
 * Answers all questions but the last one at once; the run shows what follows the last one. Clients send no
 * message while a question is open, so a user who says something else declines it in the same request: then
 * the run shows what follows those words.
 */
async function planResume(parts: PlanParts, input: RunInput, recent: readonly Task[]): Promise<RunPlan> {
  const waiting = recent.filter(({ status }) => isInterrupted(status.state));
  let plan: RunPlan | undefined;
  for (const resume of input.resume) {
    const task = taskOfResume(resume, waiting);
    if (task === undefined) continue;
    await carryOut(parts, plan);
    plan = await planAnswer(parts, input, { resume, task });
  }
  const instead = input.resume.every(({ isCancelled }) => isCancelled) || plan === undefined ? unseenMessages(input, recent) : [];
  const last = instead.at(-1);
  if (last === undefined) return plan ?? (await openThread(parts, input));
  await carryOut(parts, plan);
  const said = instead.flatMap((message) => (message.role === 'user' ? message.parts : []));
  return {
    kind: 'send',
    request: requestOf(parts, input, { parts: said, task: undefined, id: messageIdFor(input.threadId, last.id) }),
  };
}

async function carryOut({ service, ctx }: PlanParts, plan: RunPlan | undefined): Promise<void> {
  if (plan?.kind === 'send') await service.send({ ...plan.request, configuration: { returnImmediately: true } }, ctx);
  if (plan?.kind === 'cancel') await service.cancel({ id: plan.task.id }, ctx);
}

interface OpenAnswer {
  readonly resume: Resume;
  readonly task: Task;
}

async function planAnswer(parts: PlanParts, input: RunInput, { resume, task }: OpenAnswer): Promise<RunPlan> {
  const declined = resume.isCancelled ? declineParts(task) : undefined;
  if (resume.isCancelled && declined === undefined) return { kind: 'cancel', task };
  const said = declined ?? answerParts(resume.payload, task.status.message);
  return { kind: 'send', request: requestOf(parts, input, { parts: said, task, id: undefined }), known: await whole(parts, task) };
}

interface Saying {
  readonly parts: readonly Part[];
  readonly task: Task | undefined;
  /** Undefined: a new one. */
  readonly id: string | undefined;
}

function requestOf({ nextId, hasSurfaces }: PlanParts, { threadId, beside }: RunInput, { parts, task, id }: Saying): SendRequest {
  const message: Message = {
    messageId: messageId(id ?? nextId()),
    role: 'ROLE_USER',
    parts,
    contextId: contextId(threadId),
    ...(task === undefined ? {} : { taskId: task.id }),
    ...(Object.keys(beside).length === 0 ? {} : { metadata: { [AG_UI_METADATA]: beside } }),
    // CopilotKit draws 0.9.
    ...(hasSurfaces ? { extensions: [a2uiUri('v0.9')] } : {}),
  };
  return { message, configuration: { returnImmediately: false } };
}

/** A click on a surface, as A2UI 0.9 sends it. */
function actionParts({ action }: RunInput): readonly Part[] {
  return action === undefined ? [] : a2uiParts([{ version: 'v0.9', action }], 'v0.9');
}

/** Leaves out what the agent has already: after a failed run, its message is still the newest one of the thread. */
function freshMessages({ threadId, messages }: RunInput, recent: readonly Task[]): readonly NewMessage[] {
  const users = messages.filter(({ role }) => role === 'user');
  if (users.length < 2) return users;
  const unseen = unseenMessages({ threadId, messages }, recent);
  return users.filter((message, at) => at === users.length - 1 || unseen.includes(message));
}

/** Words of the user that the agent does not have. */
function unseenMessages({ threadId, messages }: Pick<RunInput, 'threadId' | 'messages'>, recent: readonly Task[]): readonly NewMessage[] {
  const known = new Set(recent.flatMap(({ history = [] }) => history.map((message): string => message.messageId)));
  return messages.filter(
    (message) => message.role === 'user' && message.parts.length > 0 && !known.has(messageIdFor(threadId, message.id)),
  );
}

/** Results of tools that the agent asked the front end to run. Results of its own tools come back too, and are left out. */
function toolResults({ status }: Task, messages: readonly NewMessage[]): readonly Part[] {
  const asked = status.message === undefined ? [] : callerToolsIn(status.message).map(({ id }) => id);
  return messages.flatMap((message) => {
    if (message.role !== 'tool' || !asked.includes(message.toolCallId)) return [];
    const outcome: Record<string, Json> = message.error === undefined ? { tool_result: message.content } : { rejected: message.error };
    return [{ text: '', metadata: { tool_call_id: message.toolCallId, ...outcome } }];
  });
}

/** The newest task of the thread that is not finished, or else the newest one; and the messages of all. */
async function openThread(parts: PlanParts, { threadId }: RunInput): Promise<RunPlan> {
  const context = contextId(threadId);
  const { service, ctx } = parts;
  const recent = await tasksOf(parts, { contextId: context, pageSize: 20 });
  const newest = recent.find(({ status }) => !isTerminal(status.state)) ?? recent[0];
  const current = newest === undefined ? undefined : await service.get({ id: newest.id }, ctx);
  const earlier = await earlierMessages(parts, context, current);
  const own = current === undefined ? [] : taskMessages(threadId, current);
  return { kind: 'open', current, messages: [...earlier.map((message) => threadMessage(threadId, message)), ...own] };
}

/** The messages of the other tasks. A service without it stores none: then only the front end knows the thread. */
async function earlierMessages({ service, ctx }: PlanParts, context: ContextId, current: Task | undefined): Promise<readonly Message[]> {
  const page = await service.conversation?.({ contextId: context, messagesMax: THREAD_MESSAGES_MAX, bytesMax: THREAD_CHARS_MAX }, ctx);
  return (page?.messages ?? []).filter(({ taskId }) => taskId === undefined || taskId !== current?.id);
}

interface Listing {
  readonly contextId: ContextId;
  readonly pageSize: number;
}

/** The newest tasks of a thread. A service without lists has none: then only the front end knows the thread. */
async function tasksOf({ service, ctx }: PlanParts, request: Listing): Promise<readonly Task[]> {
  try {
    return (await service.list(request, ctx)).tasks;
  } catch (thrown) {
    if (isA2AError(thrown) && (thrown.kind === 'UNSUPPORTED_OPERATION' || thrown.kind === 'METHOD_NOT_FOUND')) return [];
    throw thrown;
  }
}

function whole({ service, ctx }: PlanParts, { id }: Task): Promise<Task> {
  return service.get({ id, historyLength: 0 }, ctx);
}

/** The same message id was used for other content, which the engine refuses. */
export function isReusedId(thrown: unknown): boolean {
  return thrown instanceof A2AError && thrown.kind === 'INVALID_PARAMS' && thrown.details.field === 'message.messageId';
}
