import { dialectId } from '../../ids.ts';
import type { Operation } from '../../operations.ts';
import type { Codecs } from '../define.ts';
import { defineDialect } from '../define.ts';
import type { Dialect, DialectWire, Traits } from '../dialect.ts';
import { httpStatusOf } from '../shared/errors.ts';
import { taskWebhook } from '../shared/webhook.ts';
import { card } from './card.ts';
import { detect } from './detect.ts';
import { readError, writeError } from './errors.ts';
import { openReader, openStream, readEvent, writeEvent } from './events.ts';
import { readTask, taskOfMessage, writeTask } from './model.ts';
import {
  readCancelRequest,
  readGetRequest,
  readPushConfig,
  readPushGetRequest,
  readSendRequest,
  readSubscribeRequest,
  writeCancelRequest,
  writeGetRequest,
  writePushConfig,
  writeSendRequest,
} from './requests.ts';

/**
 * A2A 0.1.0: the caller names tasks, parts have a `type`, artifacts an `index`. JSON-RPC only
 * (docs/dialects/v01.md).
 */
const methods: Readonly<Partial<Record<Operation, string>>> = {
  send: 'tasks/send',
  stream: 'tasks/sendSubscribe',
  get: 'tasks/get',
  cancel: 'tasks/cancel',
  subscribe: 'tasks/resubscribe',
  'push.create': 'tasks/pushNotification/set',
  'push.get': 'tasks/pushNotification/get',
};

const traits: Traits = {
  callerNamesTask: true,
  mintsMessageIds: true,
  resumesByContext: false,
  cancelFinished: 'error',
  directMessage: 'as-task',
  // On the wire an absent length means no history; the reader turns that into 0. So an absent length in the canonical request means no
  // limit.
  historyDefault: 'all',
  // 0.1 does not define this. A caller whose stream broke just before the end gets the end instead of an error.
  subscribeFinished: 'returns-task',
};

const wire: DialectWire = {
  callerNamesTask: true,
  // Errors from before the request is read keep their own status (0.1 leaves authentication to HTTP).
  httpStatusOnError: httpStatusOf,
  timeoutMs: 30_000,
  bodyBytesMax: 1_048_576,
  extensionsHeader: undefined,
  versionHeader: undefined,
  streamErrors: 'event',
  snapshotAsEvents: true,
};

const task = { read: readTask, write: writeTask };
const pushConfig = { read: readPushConfig, write: writePushConfig };
const codecs: Codecs = {
  'send.request': { read: readSendRequest, write: writeSendRequest },
  'send.result': {
    read: (raw, env) => ({ task: readTask(raw, env) }),
    write: (result) => writeTask(result.task === undefined ? taskOfMessage(result.message) : result.task),
  },
  'stream.request': { read: readSendRequest, write: writeSendRequest },
  'get.request': { read: readGetRequest, write: writeGetRequest },
  'get.result': task,
  'cancel.request': { read: readCancelRequest, write: writeCancelRequest },
  'cancel.result': task,
  'subscribe.request': { read: readSubscribeRequest, write: (request) => ({ id: request.id }) },
  'push.create.request': pushConfig,
  'push.create.result': pushConfig,
  'push.get.request': { read: readPushGetRequest, write: (request) => ({ id: request.taskId }) },
  'push.get.result': pushConfig,
  event: { read: readEvent, write: writeEvent },
};

/** A2A 0.1.0. */
export const v01: Dialect = defineDialect({
  id: dialectId('v01'),
  title: 'A2A 0.1',
  methods,
  detect,
  codecs,
  error: { read: readError, write: writeError },
  // 0.1.0's schema requires only method and params.
  envelope: { versionOptional: true, idOptional: true },
  card,
  openStream,
  openReader,
  webhook: taskWebhook(writeTask),
  traits,
  wire,
});
