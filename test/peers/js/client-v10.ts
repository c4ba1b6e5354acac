import type { Part, SendMessageRequest, StreamResponse, Task, TaskStatus } from '@a2a-js/sdk';
import { Role, TaskState } from '@a2a-js/sdk';
import type { CallInterceptor, Client, TransportFactory } from '@a2a-js/sdk/client';
import {
  ClientFactory,
  createAuthenticatingFetchWithRetry,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { Reply, Say, Talk } from '../talk.ts';
import { PeerError } from '../talk.ts';
import { authenticating } from './credentials.ts';

const TRANSPORTS: Readonly<Record<'JSONRPC' | 'HTTP+JSON' | 'GRPC', (credential?: string) => TransportFactory>> = {
  JSONRPC: (credential) => new JsonRpcTransportFactory(authenticating(createAuthenticatingFetchWithRetry, credential)),
  'HTTP+JSON': (credential) => new RestTransportFactory(authenticating(createAuthenticatingFetchWithRetry, credential)),
  GRPC: () => new GrpcTransportFactory(),
};

/** The client of @a2a-js/sdk 1.x. */
export function talkV10(url: string, binding: keyof typeof TRANSPORTS, credential?: string): Talk {
  const transports = [TRANSPORTS[binding](credential)];
  const interceptors = binding === 'GRPC' && credential !== undefined ? [sendingBearer(credential)] : [];
  const factory = new ClientFactory({ transports, clientConfig: { interceptors }, cardResolver: new DefaultAgentCardResolver() });
  const opened: Promise<Client> = factory.createFromUrl(url);
  return {
    joinsText: true,
    send: async (say) => {
      const answer = await (await opened).sendMessage(requestOf(say));
      return 'status' in answer ? taskReply(answer) : { state: 'completed', contextId: answer.contextId, ...partReply(answer.parts) };
    },
    stream: async (say) => {
      const seen: Reply[] = [];
      for await (const event of (await opened).sendMessageStream(requestOf(say))) seen.push(eventReply(event));
      return seen;
    },
    begin: async (say) => {
      for await (const event of (await opened).sendMessageStream(requestOf(say))) {
        const reply = eventReply(event);
        if (reply.taskId !== undefined) return reply;
      }
      throw new Error('the stream ended before it named a task');
    },
    get: async (id) => taskReply(await (await opened).getTask({ tenant: '', id, historyLength: undefined }).catch(asPeerError)),
    cancel: async (id) => taskReply(await (await opened).cancelTask({ tenant: '', id, metadata: undefined })),
    list: async (contextId) => {
      const filter = { tenant: '', contextId: contextId ?? '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '' };
      const page = await (await opened).listTasks({ ...filter, statusTimestampAfter: undefined });
      return page.tasks.map(({ id }) => id);
    },
    close: async () => void (await opened),
  };
}

/** The SDK's handler of credentials is for HTTP; gRPC has the parameters of a call. */
function sendingBearer(credential: string): CallInterceptor {
  return {
    before: async (call) => {
      const serviceParameters = { ...call.options?.serviceParameters, Authorization: `Bearer ${credential}` };
      call.options = { ...call.options, serviceParameters };
    },
    after: async () => {},
  };
}

function requestOf({ text, contextId = '', taskId = '', file, data }: Say): SendMessageRequest {
  const parts: Part[] = [partOf({ $case: 'text', value: text })];
  if (file !== undefined)
    parts.push({ ...partOf({ $case: 'raw', value: Buffer.from(file.base64, 'base64') }), filename: file.name, mediaType: file.mediaType });
  if (data !== undefined) parts.push(partOf({ $case: 'data', value: data }));
  const message = {
    messageId: crypto.randomUUID(),
    contextId,
    taskId,
    role: Role.ROLE_USER,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  return { tenant: '', metadata: undefined, configuration: undefined, message };
}

function partOf(content: NonNullable<Part['content']>): Part {
  return { content, metadata: undefined, filename: '', mediaType: '' };
}

function partReply(parts: readonly Part[]): Pick<Reply, 'texts' | 'files' | 'data'> {
  return {
    texts: parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])),
    data: parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value] : [])),
    files: parts.flatMap(({ content, filename, mediaType }) =>
      content?.$case === 'raw' ? [{ name: filename, mediaType, base64: Buffer.from(content.value).toString('base64') }] : [],
    ),
  };
}

function statusReply(status: TaskStatus | undefined): Pick<Reply, 'state' | 'note'> {
  const state = TaskState[status?.state ?? TaskState.TASK_STATE_UNSPECIFIED].replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
  return status?.message === undefined ? { state } : { state, note: partReply(status.message.parts).texts.join('') };
}

function taskReply(task: Task): Reply {
  const { id: taskId, contextId, status, artifacts } = task;
  return { taskId, contextId, ...statusReply(status), ...partReply(artifacts.flatMap(({ parts }) => parts)) };
}

function eventReply({ payload }: StreamResponse): Reply {
  if (payload === undefined) return partReply([]);
  if (payload.$case === 'task') return taskReply(payload.value);
  const { contextId } = payload.value;
  if (payload.$case === 'message') return { contextId, state: 'completed', ...partReply(payload.value.parts) };
  const { taskId } = payload.value;
  return payload.$case === 'statusUpdate'
    ? { taskId, contextId, ...statusReply(payload.value.status), ...partReply([]) }
    : { taskId, contextId, ...partReply(payload.value.artifact?.parts ?? []) };
}

function asPeerError(error: unknown): never {
  throw error instanceof TaskNotFoundError ? new PeerError(error.message, -32001) : error;
}
