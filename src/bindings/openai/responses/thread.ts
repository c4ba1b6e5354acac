import type { Message, Part, SendRequest, Task } from '#protocol';
import { A2AError, callerToolsIn, contextId, isA2AError, isInterrupted, messageId, taskId } from '#protocol';
import { wrongField } from '../fields.ts';
import { preface } from '../preface.ts';
import type { ChatAgent } from '../serve.ts';
import type { ResponseCall } from './call.ts';
import { readCallId, readResponseId } from './ids.ts';
import type { CreateRequest, InputItem } from './read.ts';
import { INSTRUCTIONS, OPENAI_METADATA } from './stored.ts';

/** Where a request continues. */
interface Continued {
  readonly contextId?: string;
  /** The task that waits for this request. */
  readonly task?: Task;
}

/** What a request becomes. */
export interface PlannedSend {
  readonly request: SendRequest;
  /** The task that it continues, as the caller knows it. */
  readonly known: Task | undefined;
}

/** The message for the agent. A conversation that the agent has not seen comes with its transcript. */
export async function planSend(call: ResponseCall, request: CreateRequest, id: string): Promise<PlannedSend> {
  const { task, contextId: context } = await continuedBy(call, request);
  const isKnown = context !== undefined || task !== undefined;
  const at = request.input.findLastIndex((item) => item.role === 'assistant');
  const before = isKnown ? [] : request.input.slice(0, at + 1).flatMap(spoken);
  const fresh = isKnown ? request.input : request.input.slice(at + 1);
  const parts: readonly Part[] = [
    ...(request.instructions === undefined ? [] : [{ text: request.instructions, metadata: { openai: INSTRUCTIONS } }]),
    ...preface([...fresh.flatMap(spoken).filter(({ role }) => role === 'system'), ...before]),
    ...fresh.flatMap((item) => (item.role === 'user' ? item.parts : [])),
    ...toolResults(fresh, task),
  ];
  if (parts.every(({ metadata }) => metadata?.['openai'] === INSTRUCTIONS)) {
    throw wrongField('input', 'must end with a message of the user or the output of a function');
  }
  const message: Message = {
    messageId: messageId(id),
    role: 'ROLE_USER',
    parts,
    metadata: { [OPENAI_METADATA]: request.echo },
    ...(context === undefined ? {} : { contextId: contextId(context) }),
    ...(task === undefined ? {} : { taskId: task.id }),
  };
  return { request: { message, configuration: { returnImmediately: request.background } }, known: task };
}

function spoken(item: InputItem): readonly { readonly role: string; readonly parts: readonly Part[] }[] {
  return item.role === 'tool' ? [] : [item];
}

async function continuedBy(call: ResponseCall, request: CreateRequest): Promise<Continued> {
  const { service } = call.agent;
  const { previous, conversation, input } = request;
  if (previous !== undefined) return await afterResponse(call, previous);
  if (conversation !== undefined) {
    const { tasks } = await service.list({ contextId: contextId(conversation), pageSize: 20 }, call.ctx);
    const waiting = tasks.find(({ status }) => isInterrupted(status.state));
    if (waiting === undefined) return { contextId: conversation };
    return { contextId: conversation, task: await service.get({ id: waiting.id }, call.ctx) };
  }
  const answered = input.flatMap((item) => (item.role === 'tool' ? [readCallId(item.callId)?.task] : [])).find((id) => id !== undefined);
  const task = answered === undefined ? undefined : await found(call, answered);
  return task === undefined || !isInterrupted(task.status.state) ? {} : continuedTask(task);
}

async function afterResponse(call: ResponseCall, id: string): Promise<Continued> {
  const ref = readResponseId(id);
  const missing = new A2AError('INVALID_PARAMS', `Previous response with id '${id.slice(0, 200)}' not found.`, {
    field: 'previous_response_id',
    info: { openai: 'previous_response_not_found' },
  });
  if (ref === undefined) throw missing;
  if (ref.agent !== call.agent.name) {
    throw wrongField('model', `must be ${ref.agent}: the previous response is of that agent`);
  }
  const task = await found(call, ref.task);
  if (task === undefined) throw missing;
  return isInterrupted(task.status.state)
    ? continuedTask(task)
    : { ...(task.contextId === undefined ? {} : { contextId: task.contextId }) };
}

function continuedTask(task: Task): Continued {
  return { task, ...(task.contextId === undefined ? {} : { contextId: task.contextId }) };
}

async function found({ agent, ctx }: ResponseCall, id: string): Promise<Task | undefined> {
  try {
    return await agent.service.get({ id: taskId(id) }, ctx);
  } catch (thrown) {
    if (isA2AError(thrown) && thrown.kind === 'TASK_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/** The outputs of functions that the waiting task asked for. Others belong to earlier turns. */
function toolResults(items: readonly InputItem[], task: Task | undefined): readonly Part[] {
  const asked = task?.status.message === undefined ? [] : callerToolsIn(task.status.message).map(({ id }) => id);
  return items.flatMap((item) => {
    const id = item.role === 'tool' ? readCallId(item.callId)?.id : undefined;
    if (item.role !== 'tool' || id === undefined || !asked.includes(id)) return [];
    return [{ text: '', metadata: { tool_call_id: id, tool_result: item.output } }];
  });
}

/** The agent of a stored response. */
export function agentOfResponse(
  id: string,
  agents: readonly ChatAgent[],
): { readonly agent: ChatAgent; readonly ref: ReturnType<typeof readResponseId> & object } {
  const ref = readResponseId(id);
  const agent = ref === undefined ? undefined : agents.find(({ name }) => name === ref.agent);
  if (ref === undefined || agent === undefined) throw noResponse(id);
  return { agent, ref };
}

export function noResponse(id: string): A2AError {
  return new A2AError('TASK_NOT_FOUND', `Response with id '${id.slice(0, 200)}' not found.`, { info: { openai: 'response_not_found' } });
}
