import { A2AError } from '../../errors.ts';
import { dialectId } from '../../ids.ts';
import type { Operation } from '../../operations.ts';
import { OPERATION_NAMES } from '../../operations.ts';
import type { Codec, Codecs } from '../define.ts';
import { defineDialect } from '../define.ts';
import type { Confidence, Dialect, DialectWire, Hints, Loss, RpcId, StreamWriter, Traits } from '../dialect.ts';
import type { Codes } from '../shared/errors.ts';
import { httpStatusOf, readError, writeBareError } from '../shared/errors.ts';
import { writePushConfig, writeUnnamedPushConfig } from '../shared/push-config.ts';
import { envelope, frame, isQuestion } from '../shared/stream.ts';
import { taskWebhook } from '../shared/webhook.ts';
import type { CardEdition } from './card.ts';
import { cardCodec, cardReader, writeCard } from './card.ts';
import type { Form } from './form.ts';
import { KIND_FORM } from './form.ts';
import { readTaskConfig } from './push.ts';
import { readers } from './read.ts';
import {
  listReader,
  readCancelRequest,
  readConfiguration,
  readGetRequest,
  readPushDeleteRequest,
  readPushGetRequest,
  readPushListRequest,
  readPushPage,
  readSubscribeRequest,
  sendReader,
  sendResultReader,
  sendWriter,
  taskPageReader,
} from './requests.ts';
import type { MissingMembers, Writers } from './write.ts';
import { writers } from './write.ts';

/** One release that uses `kind` JSON over JSON-RPC: 0.3 or one of 0.2.x. */
export interface Edition {
  readonly id: string;
  readonly title: string;
  /** Operations of 0.3 for which it has no method. */
  readonly without: readonly Operation[];
  /** Members of the model that 0.3 has and this release lacks. */
  readonly losses: readonly Loss[];
  /** The name of the task's id in get, cancel and resubscribe. */
  readonly taskId: 'id' | 'taskId';
  /** Codes that it writes and that differ from 1.0.1's. */
  readonly codes: Codes;
  readonly card: CardEdition;
  readonly detect: (hints: Hints) => Confidence;
  readonly traits: Partial<Traits>;
  readonly wire: Partial<DialectWire>;
}

const METHODS: Readonly<Partial<Record<Operation, string>>> = {
  send: 'message/send',
  stream: 'message/stream',
  get: 'tasks/get',
  cancel: 'tasks/cancel',
  subscribe: 'tasks/resubscribe',
  'push.create': 'tasks/pushNotificationConfig/set',
  'push.get': 'tasks/pushNotificationConfig/get',
  'push.list': 'tasks/pushNotificationConfig/list',
  'push.delete': 'tasks/pushNotificationConfig/delete',
  extendedCard: 'agent/getAuthenticatedExtendedCard',
};

/**
 * A2A 0.3.0 §11.1.2 misspells the first. The second was on the main branch after the tag: accepted,
 * never sent.
 */
const ALIASES: Readonly<Record<string, Operation>> = { 'agent/authenticatedExtendedCard': 'extendedCard', 'tasks/list': 'list' };

/** Traits of 0.3 over JSON-RPC. Editions override single members. */
export const TRAITS: Traits = {
  callerNamesTask: false,
  resumesByContext: true,
  cancelFinished: 'error',
  // A2A 0.3.0 §7.4: a task in a terminal state can't be canceled; the 0.3 kit checks a second cancel.
  cancelsOnce: true,
  directMessage: 'allowed',
  // A2A 0.3.0 §7.3 leaves an absent historyLength to the server. The Python SDK and 1.0 return everything; the JS SDK returns an empty
  // list. A caller can ask for nothing with 0, but can't ask for everything without knowing the length.
  historyDefault: 'all',
  subscribeFinished: 'returns-task',
};

/** HTTP details of 0.3. Editions override single members. */
export const WIRE: DialectWire = {
  httpStatusOnError: (kind) => {
    if (kind === 'PARSE_ERROR') return 400;
    // Errors from before the request is read keep their HTTP status. The specification leaves the rest open, and the SDKs use 200.
    return httpStatusOf(kind);
  },
  timeoutMs: 30_000,
  bodyBytesMax: 1_048_576,
  extensionsHeader: 'X-A2A-Extensions',
  versionHeader: undefined,
  // The SDKs of 0.2 and 0.3 expect an event stream even for an error: with JSON they lose the code, or see an empty stream.
  streamErrors: 'event',
};

/** A release of the family, made from 0.3's codecs without what it lacks. */
export function kindDialect(edition: Edition): Dialect {
  const has = (operation: Operation) => METHODS[operation] !== undefined && !edition.without.includes(operation);
  const missing: MissingMembers = new Set(edition.losses.filter((loss) => loss.values === undefined).map((loss) => loss.field));
  const write = writers(KIND_FORM, missing);
  const aliases = Object.entries(ALIASES).filter(([, operation]) => !edition.without.includes(operation));
  return defineDialect({
    id: dialectId(edition.id),
    title: edition.title,
    methods: Object.fromEntries(OPERATION_NAMES.filter(has).map((operation) => [operation, METHODS[operation]])),
    aliases: Object.fromEntries(aliases),
    detect: edition.detect,
    codecs: withoutOperations(kindCodecs(edition, { write, missing }), edition.without),
    // -32600 is read as "invalid request": only its writer knows that it meant a finished task.
    error: { read: (raw) => readError(raw, {}), write: (error) => writeBareError(error, edition.codes) },
    card: cardCodec(edition.card, missing),
    openStream: (requestId) => closingStream(requestId, write.event),
    webhook: taskWebhook(write.task),
    traits: { ...TRAITS, ...edition.traits },
    wire: { ...WIRE, ...edition.wire },
  });
}

/** Readers and writers of the JSON-RPC form, whose objects have `kind`. */
function kindCodecs(edition: Edition, own: { readonly write: Writers; readonly missing: MissingMembers }): Codecs {
  const { write, missing } = own;
  const read = readers(KIND_FORM);
  const config = missing.has('PushConfig.id') ? writeUnnamedPushConfig : writePushConfig;
  const { taskId } = edition;
  const send: Codecs['send.request'] = {
    read: sendReader(read, readConfiguration),
    write: sendWriter({ message: write.message, config }),
  };
  const task = { read: read.task, write: write.task };
  const taskConfig: Codecs['push.get.result'] = {
    read: readTaskConfig,
    write: (value) => ({ taskId: value.taskId ?? '', pushNotificationConfig: config(value) }),
  };
  return {
    'send.request': send,
    'send.result': { read: sendResultReader(read), write: (result) => write.event(result, false) },
    'stream.request': send,
    'get.request': {
      read: readGetRequest,
      write: (r) => (r.historyLength === undefined ? { [taskId]: r.id } : { [taskId]: r.id, historyLength: r.historyLength }),
    },
    'get.result': task,
    ...listCodecs(KIND_FORM, taskPage(read.task, write.task)),
    'cancel.request': {
      read: readCancelRequest,
      write: (r) => (r.metadata === undefined ? { [taskId]: r.id } : { [taskId]: r.id, metadata: r.metadata }),
    },
    'cancel.result': task,
    'subscribe.request': { read: readSubscribeRequest, write: (r) => ({ [taskId]: r.id }) },
    'push.create.request': taskConfig,
    'push.create.result': taskConfig,
    'push.get.request': {
      read: readPushGetRequest,
      write: (r) =>
        r.id === undefined || missing.has('PushGetRequest.id') ? { id: r.taskId } : { id: r.taskId, pushNotificationConfigId: r.id },
    },
    'push.get.result': taskConfig,
    'push.list.request': { read: readPushListRequest, write: (r) => ({ id: r.taskId }) },
    'push.list.result': { read: readPushPage, write: (page) => page.configs.map(taskConfig.write) },
    'push.delete.request': { read: readPushDeleteRequest, write: (r) => ({ id: r.taskId, pushNotificationConfigId: r.id }) },
    'push.delete.result': { read: () => null, write: () => null },
    'extendedCard.request': { read: () => ({}), write: () => ({}) },
    'extendedCard.result': { read: cardReader(edition.card), write: (card) => writeCard(card, edition.card, missing) },
    event: { read: read.event, write: (event) => write.event(event, isQuestion(event)) },
  };
}

function taskPage(read: Parameters<typeof taskPageReader>[0], write: Writers['task']): NonNullable<Codecs['list.result']> {
  return { read: taskPageReader(read), write: ({ tasks, ...page }) => ({ tasks: tasks.map(write), ...page }) };
}

/** `tasks/list` is answered but never sent, because no release of the family has it. */
export function listCodecs(form: Form, result: NonNullable<Codecs['list.result']>): Codecs {
  const request: Codec<Parameters<NonNullable<Codecs['list.request']>['write']>[0]> = {
    read: listReader(form),
    write: () => {
      throw new A2AError('UNSUPPORTED_OPERATION', 'A2A 0.3 has no list of tasks');
    },
  };
  return { 'list.request': request, 'list.result': result };
}

function withoutOperations(codecs: Codecs, operations: readonly Operation[]): Codecs {
  const gone = new Set(operations.flatMap((operation) => [`${operation}.request`, `${operation}.result`]));
  return Object.fromEntries(Object.entries(codecs).filter(([shape]) => !gone.has(shape)));
}

/** Writes `final` where the stream closes. */
export function closingStream(requestId: RpcId | undefined, write: Writers['event']): StreamWriter {
  const wrap = envelope(requestId);
  return {
    frames: (batch) => batch.map((logged) => frame(wrap(write(logged.event, logged.closes === true)), logged)),
    end: () => [],
  };
}
