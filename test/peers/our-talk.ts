import type { ClientOptions } from 'parley-a2a';
import { A2AClient } from 'parley-a2a';
import type { Part, SendResult, Task, TaskEvent } from '#protocol';
import { contextId as asContextId, ERRORS, getTextFromMessage, isA2AError } from '#protocol';
import type { Reply, Say, Talk } from './talk.ts';
import { PeerError } from './talk.ts';

/** Our own client as one side of a conversation. */
export async function ourTalk(url: string, joinsText: boolean, options: Pick<ClientOptions, 'auth' | 'trustOrigins'> = {}): Promise<Talk> {
  const client = await A2AClient.connect(url, { timeoutMs: 120_000, ...options });
  const optionsOf = ({ contextId, taskId }: Say) => ({
    ...(contextId === undefined ? {} : { contextId }),
    ...(taskId === undefined ? {} : { taskId }),
  });
  return {
    joinsText,
    send: async (say) => resultReply(await client.send(partsOf(say), optionsOf(say)).result()),
    stream: async (say) => {
      const seen: Reply[] = [];
      for await (const event of client.stream(partsOf(say), optionsOf(say))) seen.push(eventReply(event));
      return seen;
    },
    begin: async (say) => {
      for await (const event of client.stream(partsOf(say), optionsOf(say))) {
        const reply = eventReply(event);
        if (reply.taskId !== undefined) return reply;
      }
      throw new Error('the stream ended before it named a task');
    },
    get: async (taskId) => taskReply(await client.get(taskId).catch(asPeerError)),
    list: async (contextId) => {
      const ids: string[] = [];
      for await (const task of client.list(contextId === undefined ? {} : { contextId: asContextId(contextId) })) ids.push(task.id);
      return ids;
    },
    cancel: async (taskId) => taskReply(await client.cancel(taskId)),
    close: async () => {},
  };
}

function asPeerError(error: unknown): never {
  throw isA2AError(error) ? new PeerError(error.message, ERRORS[error.kind].rpc) : error;
}

function partsOf({ text, file, data }: Say): readonly Part[] {
  const parts: Part[] = [{ text }];
  if (file !== undefined) parts.push({ raw: file.base64, filename: file.name, mediaType: file.mediaType });
  if (data !== undefined) parts.push({ data: data as never });
  return parts;
}

function resultReply({ task, message }: SendResult): Reply {
  if (task !== undefined) return taskReply(task);
  return {
    state: 'completed',
    ...(message?.contextId === undefined ? {} : { contextId: message.contextId }),
    ...partReply(message?.parts ?? []),
  };
}

function taskReply(task: Task): Reply {
  return {
    taskId: task.id,
    ...(task.contextId === undefined ? {} : { contextId: task.contextId }),
    ...statusReply(task.status),
    ...partReply((task.artifacts ?? []).flatMap(({ parts }) => parts)),
  };
}

function eventReply({ task, message, statusUpdate, artifactUpdate }: TaskEvent): Reply {
  if (task !== undefined) return taskReply(task);
  if (message !== undefined) return resultReply({ message });
  const { taskId, contextId } = statusUpdate ?? artifactUpdate;
  const ids = { taskId, contextId };
  return statusUpdate === undefined
    ? { ...ids, ...partReply(artifactUpdate.artifact.parts) }
    : { ...ids, ...statusReply(statusUpdate.status), ...partReply([]) };
}

function statusReply({ state, message }: Task['status']): Pick<Reply, 'state' | 'note'> {
  const note = message === undefined ? {} : { note: getTextFromMessage(message) };
  return { state: state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-'), ...note };
}

function partReply(parts: readonly Part[]): Pick<Reply, 'texts' | 'files' | 'data'> {
  return {
    texts: parts.flatMap(({ text }) => (text === undefined ? [] : [text])),
    files: parts.flatMap(({ raw, filename, mediaType }) =>
      raw === undefined
        ? []
        : [{ base64: raw, ...(filename === undefined ? {} : { name: filename }), ...(mediaType === undefined ? {} : { mediaType }) }],
    ),
    data: parts.flatMap(({ data }) => (data === undefined ? [] : [data])),
  };
}
