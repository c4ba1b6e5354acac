import type { AgentCard } from '../../card.ts';
import { dialectId } from '../../ids.ts';
import type { Json } from '../../json.ts';
import { jsonOf } from '../../json.ts';
import type { Operation } from '../../operations.ts';
import type { TaskPage } from '../../requests.ts';
import type { Codec, Codecs } from '../define.ts';
import { defineDialect } from '../define.ts';
import type { Dialect, DialectWire, Traits } from '../dialect.ts';
import { readFlatCancel, readFlatGet, readFlatList, readFlatPage } from '../shared/flat-requests.ts';
import { card, readCard, writeCard } from './card.ts';
import { detect } from './detect.ts';
import { error, httpStatusOnError } from './errors.ts';
import { task, vocabulary } from './model.ts';
import { cardRequest, send, sendResult } from './requests.ts';
import { event, openReader, openStream } from './stream.ts';

const methods: Readonly<Partial<Record<Operation, string>>> = {
  send: 'SendMessage',
  stream: 'SendStreamingMessage',
  get: 'GetTask',
  list: 'ListTasks',
  cancel: 'CancelTask',
  extendedCard: 'GetExtendedAgentCard',
  card: 'GetAgentCard',
};
const METHODS: ReadonlySet<string> = new Set(Object.values(methods));

const cardResult: Codec<AgentCard> = { read: readCard, write: writeCard };

const codecs: Codecs = {
  'send.request': send,
  'send.result': sendResult,
  'stream.request': send,
  'get.request': { read: readFlatGet, write: ({ currentGeneration: _, ...request }) => request },
  'get.result': task,
  'list.request': { read: (raw, env) => readFlatList(raw, env, vocabulary), write: (request) => jsonOf(request) },
  'list.result': {
    read: (raw, env) => readFlatPage(raw, env, task.read),
    write: writePage,
  },
  'cancel.request': { read: readFlatCancel, write: (request) => jsonOf(request) },
  'cancel.result': task,
  'extendedCard.request': cardRequest,
  'extendedCard.result': cardResult,
  'card.request': cardRequest,
  'card.result': cardResult,
  event,
};

/** Cortex's own page has only the tasks. The other members of a page are written under 1.0's names. */
function writePage({ tasks, nextPageToken, pageSize, totalSize }: TaskPage): Json {
  const out: { [key: string]: Json } = { tasks: tasks.map(task.write) };
  if (nextPageToken !== '') out.nextPageToken = nextPageToken;
  if (pageSize !== tasks.length) out.pageSize = pageSize;
  if (totalSize !== tasks.length) out.totalSize = totalSize;
  return out;
}

const traits: Traits = {
  callerNamesTask: false,
  // Its client sends no task ids.
  resumesByContext: true,
  cancelFinished: 'returns-task',
  directMessage: 'as-task',
  historyDefault: 'all',
  subscribeFinished: 'returns-task',
  listsArtifacts: true,
};

const wire: DialectWire = {
  // Its server keeps a history for each context id of the caller. Its stream does not read the context, and sends the whole answer at once.
  callerNamesContext: true,
  streamsLoseContext: true,
  nullForUnknownTask: true,
  extendedCardIsCard: true,
  callPath: '/a2a',
  httpStatusOnError,
  timeoutMs: 120_000,
  bodyBytesMax: 1_048_576,
  extensionsHeader: undefined,
  versionHeader: '1.0',
};

/** CortexPrism: 1.0's methods and states, 0.x's roles and files, and a stream format of its own (docs/dialects/cortex.md). */
export const cortex: Dialect = defineDialect({
  id: dialectId('cortex'),
  title: 'CortexPrism',
  methods,
  detect: (hints) => detect(hints, METHODS),
  claimsPaths: true,
  codecs,
  error,
  card,
  openStream,
  openReader,
  traits,
  wire,
});
