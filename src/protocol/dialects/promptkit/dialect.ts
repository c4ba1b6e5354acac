import { dialectId } from '../../ids.ts';
import type { Json } from '../../json.ts';
import type { ListRequest, SendRequest, TaskPage } from '../../requests.ts';
import type { Task } from '../../task.ts';
import type { Codec, Codecs } from '../define.ts';
import { defineDialect } from '../define.ts';
import type { Dialect, DialectWire, Traits } from '../dialect.ts';
import { taskOfMessage } from '../shared/flat-model.ts';
import type { SendReaders } from '../shared/flat-requests.ts';
import {
  readFlatCancel,
  readFlatConfiguration,
  readFlatGet,
  readFlatList,
  readFlatPage,
  readFlatSend,
  readFlatSubscribe,
  writeFlatConfiguration,
} from '../shared/flat-requests.ts';
import { NO_CONTEXT } from '../shared/members.ts';
import { card } from './card.ts';
import { detect } from './detect.ts';
import { error, httpStatusOnError } from './errors.ts';
import { model, vocabulary } from './model.ts';
import { ANSWER_ARTIFACT, event, openReader, openStream } from './stream.ts';

const SEND_READERS: SendReaders = { message: model.requestMessage.read, configuration: readFlatConfiguration };

const send: Codec<SendRequest> = {
  read: (raw, env) => readFlatSend(raw, env, SEND_READERS),
  write: ({ message, configuration, metadata }) => {
    const out: { [key: string]: Json } = { message: model.message.write(message) };
    if (configuration !== undefined) out.configuration = writeFlatConfiguration(configuration);
    if (metadata !== undefined) out.metadata = metadata;
    return out;
  },
};

/** `contextId` is written even when it is empty: it is not optional in PromptKit's Go type. */
const task: Codec<Task> = {
  read: model.task.read,
  write: (value) => model.task.write(value.contextId === undefined ? { ...value, contextId: NO_CONTEXT } : value),
};

const codecs: Codecs = {
  'send.request': send,
  'send.result': {
    read: (raw, env) => ({ task: task.read(raw, env) }),
    write: (result) => task.write(result.task ?? taskOfMessage(result.message, ANSWER_ARTIFACT)),
  },
  'stream.request': send,
  'get.request': {
    read: readFlatGet,
    write: ({ id, historyLength }) => (historyLength === undefined ? { id } : { id, historyLength }),
  },
  'get.result': task,
  'list.request': { read: (raw, env) => readFlatList(raw, env, vocabulary), write: writeListRequest },
  'list.result': { read: (raw, env) => readFlatPage(raw, env, task.read), write: writePage },
  'cancel.request': { read: readFlatCancel, write: ({ id }) => ({ id }) },
  'cancel.result': task,
  'subscribe.request': { read: readFlatSubscribe, write: ({ id }) => ({ id }) },
  event,
};

function writeListRequest({ contextId, status, pageSize, pageToken, historyLength }: ListRequest): Json {
  return {
    contextId: contextId ?? '',
    ...(status === undefined ? {} : { status: vocabulary.stateNames[status] }),
    ...(pageSize === undefined ? {} : { pageSize }),
    ...(pageToken === undefined ? {} : { pageToken }),
    ...(historyLength === undefined ? {} : { historyLength }),
  };
}

/** PromptKit's type has all four members. Like PromptKit, leaves out those that add nothing. */
function writePage({ tasks, nextPageToken, pageSize, totalSize }: TaskPage): Json {
  return {
    tasks: tasks.map(task.write),
    pageSize,
    ...(nextPageToken === '' ? {} : { nextPageToken }),
    ...(totalSize === tasks.length ? {} : { totalSize }),
  };
}

const traits: Traits = {
  callerNamesTask: false,
  // PromptKit's client sends contexts, never task ids, and accepts any task in the response.
  resumesByContext: true,
  cancelFinished: 'error',
  directMessage: 'as-task',
  historyDefault: 'none',
  subscribeFinished: 'returns-status',
  listsArtifacts: true,
  // Its client gives up after 60 seconds and then has no task id to ask with.
  sendMsMax: 50_000,
};

const wire: DialectWire = {
  httpStatusOnError,
  timeoutMs: 60_000,
  bodyBytesMax: 10_485_760,
  extensionsHeader: undefined,
  versionHeader: undefined,
  callPath: '/a2a',
  snapshotAsEvents: true,
};

/** PromptKit (AltairaLabs): 0.3's method names with 1.0's shapes (docs/dialects/promptkit.md). */
export const promptkit: Dialect = defineDialect({
  id: dialectId('promptkit'),
  title: 'PromptKit',
  methods: {
    send: 'message/send',
    stream: 'message/stream',
    get: 'tasks/get',
    cancel: 'tasks/cancel',
    list: 'tasks/list',
    subscribe: 'tasks/subscribe',
  },
  detect,
  codecs,
  error,
  card,
  openStream,
  openReader,
  traits,
  wire,
});
