import { ERRORS } from '../../errors.ts';
import type { Logged, TaskArtifactUpdate, TaskEvent } from '../../events.ts';
import { dialectId } from '../../ids.ts';
import type { Json } from '../../json.ts';
import { jsonOf } from '../../json.ts';
import type { Operation } from '../../operations.ts';
import type { Codec, Codecs } from '../define.ts';
import { defineDialect } from '../define.ts';
import type { Dialect, DialectWire, StreamWriter, Traits } from '../dialect.ts';
import { httpStatusOf, readError, writeDetails } from '../shared/errors.ts';
import type { Reader } from '../shared/read.ts';
import { plainStream } from '../shared/stream.ts';
import { card, readCard, writeCard } from './card.ts';
import { detect } from './detect.ts';
import { readEvent, readTask, withGeneration, withoutGeneration } from './model.ts';
import {
  readCancelRequest,
  readExtendedCardRequest,
  readGetRequest,
  readListRequest,
  readPushConfig,
  readPushCreateRequest,
  readPushDeleteRequest,
  readPushGetRequest,
  readPushListRequest,
  readPushPage,
  readSendRequest,
  readSendResult,
  readSubscribeRequest,
  readTaskPage,
  writeSendRequest,
} from './requests.ts';
import { rest } from './rest.ts';

/**
 * A2A 1.0.1 over JSON-RPC and HTTP+JSON, which differ in envelope and paths, not in bodies
 * (docs/dialects/v10.md).
 */
const methods: Readonly<Partial<Record<Operation, string>>> = {
  send: 'SendMessage',
  stream: 'SendStreamingMessage',
  get: 'GetTask',
  list: 'ListTasks',
  cancel: 'CancelTask',
  subscribe: 'SubscribeToTask',
  'push.create': 'CreateTaskPushNotificationConfig',
  'push.get': 'GetTaskPushNotificationConfig',
  'push.list': 'ListTaskPushNotificationConfigs',
  'push.delete': 'DeleteTaskPushNotificationConfig',
  extendedCard: 'GetExtendedAgentCard',
};

const traits: Traits = {
  callerNamesTask: false,
  resumesByContext: false,
  cancelFinished: 'error',
  directMessage: 'allowed',
  historyDefault: 'all',
  subscribeFinished: 'error',
};

const wire: DialectWire = {
  // §9.5 leaves the HTTP status of a JSON-RPC error open; the SDKs answer 200. Errors from before the request is read keep their own.
  httpStatusOnError: httpStatusOf,
  timeoutMs: 30_000,
  bodyBytesMax: 1_048_576,
  extensionsHeader: 'A2A-Extensions',
  versionHeader: '1.0',
  // Go's client reads only events from a stream; Python's and JavaScript's read both.
  streamErrors: 'event-if-only',
};

const same = <T extends object>(read: Reader<T>): Codec<T> => ({ read, write: (value) => jsonOf(value) });

/** Readers and writers of 1.0, and of the 1.1 draft with `generation`. */
function codecs(options: { readonly generation: boolean }): Codecs {
  const numbered = options.generation ? withGeneration : withoutGeneration;
  const writeEvent = (event: TaskEvent): Json => eventJson(event, numbered);
  return {
    'send.request': { read: readSendRequest, write: options.generation ? writeDraftSend : writeSendRequest },
    'send.result': { read: readSendResult, write: (result) => writeEvent(result as TaskEvent) },
    'stream.request': { read: readSendRequest, write: options.generation ? writeDraftSend : writeSendRequest },
    'get.request': {
      read: readGetRequest,
      write: ({ currentGeneration, ...request }) =>
        jsonOf(
          options.generation && currentGeneration !== undefined ? { ...request, currentGeneration: String(currentGeneration) } : request,
        ),
    },
    'get.result': { read: readTask, write: numbered },
    'list.request': same(readListRequest),
    'list.result': { read: readTaskPage, write: (page) => ({ ...page, tasks: page.tasks.map((task) => numbered(task)) }) },
    'cancel.request': same(readCancelRequest),
    'cancel.result': { read: readTask, write: numbered },
    'subscribe.request': { read: readSubscribeRequest, write: ({ after: _, ...request }) => request },
    'push.create.request': same(readPushCreateRequest),
    'push.create.result': same(readPushConfig),
    'push.get.request': same(readPushGetRequest),
    'push.get.result': same(readPushConfig),
    'push.list.request': same(readPushListRequest),
    'push.list.result': same(readPushPage),
    'push.delete.request': same(readPushDeleteRequest),
    // §9.4.10 leaves the result open. Agents send null, {} or nothing.
    'push.delete.result': { read: () => null, write: () => null },
    'extendedCard.request': same(readExtendedCardRequest),
    'extendedCard.result': { read: readCard, write: writeCard },
    event: { read: readEvent, write: writeEvent },
  };
}

function writeDraftSend({ alias: _, ...request }: Parameters<typeof writeSendRequest>[0]): Json {
  const match = request.configuration?.ifGenerationMatch;
  if (match === undefined) return jsonOf(request);
  return jsonOf({ ...request, configuration: { ...request.configuration, ifGenerationMatch: String(match) } });
}

/** The event as StreamResponse. The 1.1 draft adds the sequence number. */
function eventJson(event: TaskEvent, write: typeof withGeneration, logged?: Logged): Json {
  if (event.artifactUpdate !== undefined) return { artifactUpdate: write(withoutFalse(event.artifactUpdate), logged?.seq) };
  if (event.statusUpdate !== undefined) return { statusUpdate: write(event.statusUpdate, logged?.seq) };
  if (event.task !== undefined) return { task: write(event.task, logged?.seq) };
  return { message: jsonOf(event.message) };
}

/** ProtoJSON leaves out a false (§5.5). */
function withoutFalse(update: TaskArtifactUpdate): TaskArtifactUpdate {
  const { append, lastChunk } = update;
  if (append !== false && lastChunk !== false) return update;
  const { append: _, lastChunk: __, ...rest } = update;
  return { ...rest, ...(append === true ? { append } : {}), ...(lastChunk === true ? { lastChunk } : {}) };
}

/** 1.0 and the 1.1 draft differ only in `generation`. */
function build(id: string, title: string, options: { readonly generation: boolean }): Dialect {
  const numbered = options.generation ? withGeneration : withoutGeneration;
  const write = (event: TaskEvent, logged: Logged): Json => eventJson(event, numbered, logged);
  // Without an envelope, all streams are written alike.
  const bare: StreamWriter = { ...plainStream(undefined, write), isShared: true };
  return defineDialect({
    id: dialectId(id),
    title,
    methods,
    detect: options.generation ? () => 'no' : detect,
    codecs: codecs(options),
    error: {
      read: (raw) => readError(raw, {}),
      write: (error) => ({ code: error.details.code ?? ERRORS[error.kind].rpc, message: error.message, data: writeDetails(error) }),
    },
    card,
    rest,
    openStream: (requestId) => (requestId === undefined ? bare : plainStream(requestId, write)),
    // §4.3.3: a StreamResponse, whatever binding the caller used.
    webhook: { carries: 'events', mediaType: 'application/a2a+json', write: (event) => eventJson(event, numbered) },
    traits,
    wire,
  });
}

/** A2A 1.0.1, the canonical dialect. */
export const v10: Dialect = build('v10', 'A2A 1.0', { generation: false });

/** 1.0 with the `generation` of the unreleased 1.1 draft, for callers that turn it on. */
export const v10Generation: Dialect = build('v10.generation', 'A2A 1.0 with the 1.1 draft’s generation', { generation: true });
