import { A2AError } from '../../errors.ts';
import { dialectId } from '../../ids.ts';
import type { SendRequest } from '../../requests.ts';
import type { Codecs } from '../define.ts';
import { defineDialect } from '../define.ts';
import type { Dialect, DialectWire, Traits } from '../dialect.ts';
import { httpStatusOf } from '../shared/errors.ts';
import { card } from './card.ts';
import { detect } from './detect.ts';
import { readError, writeError } from './errors.ts';
import { readSendRequest, threadOf, writeSendRequest } from './requests.ts';
import { readTask, taskOfMessage, writeTask } from './task.ts';

const traits: Traits = {
  callerNamesTask: true,
  mintsMessageIds: true,
  resumesByContext: false,
  cancelFinished: 'error',
  directMessage: 'as-task',
  // Society's documents show `messages` empty, and a request can't ask for them.
  historyDefault: 'none',
  subscribeFinished: 'error',
  // Its client gives up after 30 seconds and then knows no thread to ask in.
  sendMsMax: 25_000,
};

const wire: DialectWire = {
  callerNamesTask: true,
  namesAreContexts: true,
  // Society's client reads a body only with a 2xx status. A body over the limit is refused with its own status all the same.
  httpStatusOnError: httpStatusOf,
  timeoutMs: 30_000,
  bodyBytesMax: 1_048_576,
  extensionsHeader: undefined,
  versionHeader: undefined,
};

const codecs: Codecs = {
  'send.request': { read: readSendRequest, write: writeSendRequest },
  'send.result': {
    read: (raw, env) => ({ task: readTask(raw, env) }),
    write: (result) => writeTask(result.task === undefined ? taskOfMessage(result.message) : result.task),
  },
};

/**
 * Society: one method on `/`, the thread's id as the task's id, text in and artifacts out
 * (docs/dialects/society.md).
 */
export const society: Dialect = defineDialect({
  id: dialectId('society'),
  title: 'Society',
  methods: { send: 'tasks/send' },
  detect,
  codecs,
  error: { read: readError, write: writeError },
  envelope: { idNotNull: true },
  // Society, Request format: "The id in both the JSON-RPC envelope and params should match."
  rpcId: (shape, value) => (shape === 'send.request' ? threadOf(value as SendRequest) : undefined),
  card,
  openStream: () => {
    throw new A2AError('STREAMING_NOT_SUPPORTED', 'Society has no streams');
  },
  traits,
  wire,
});
