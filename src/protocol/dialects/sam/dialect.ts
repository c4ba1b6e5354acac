import { dialectId } from '../../ids.ts';
import type { Operation, Shape, Shapes } from '../../operations.ts';
import type { SendRequest } from '../../requests.ts';
import type { Codecs } from '../define.ts';
import { defineDialect } from '../define.ts';
import type { Dialect, DialectWire, RpcId, Traits } from '../dialect.ts';
import type { Codes } from '../shared/errors.ts';
import { httpStatusOf, readError, writePlainError } from '../shared/errors.ts';
import { card } from './card.ts';
import { detectDocumented } from './detect.ts';
import { readEvent, readTask } from './model.ts';
import { readCancelRequest, readSendRequest, readSendResult, writeCancelRequest, writeSendRequest } from './requests.ts';
import { openStream } from './stream.ts';
import type { Spelling } from './write.ts';
import { writeEvent, writeTask } from './write.ts';

/** Solace Agent Mesh: three methods and two spellings. It has no get, list or subscribe. */
type Methods = Readonly<Partial<Record<Operation, string>>>;
const WIRE: Methods = { send: 'message/send', stream: 'message/stream', cancel: 'tasks/cancel' };
const DOCUMENTED: Methods = { send: 'tasks/send', stream: 'tasks/send-streaming', cancel: 'tasks/cancel' };
const ALIASES: Readonly<Record<string, Operation>> = {
  'message/send': 'send',
  'message/stream': 'stream',
  'tasks/send': 'send',
  'tasks/send-streaming': 'stream',
};

/**
 * SAM answers a caller without the necessary rights with "invalid request". When read back, the code
 * has its standard meaning.
 */
const codes: Codes = { INVALID_REQUEST: -32600, UNAUTHENTICATED: -32600, PERMISSION_DENIED: -32600 };

const traits: Traits = {
  callerNamesTask: true,
  resumesByContext: false,
  cancelFinished: 'error',
  directMessage: 'as-task',
  historyDefault: 'all',
  subscribeFinished: 'error',
};

const wire: DialectWire = {
  callerNamesTask: true,
  // SAM has no HTTP form of its own. JSON-RPC errors have the status that the official versions use.
  httpStatusOnError: httpStatusOf,
  timeoutMs: 300_000, // the idle timeout of SAM's gateways (task_timeout)
  bodyBytesMax: 10_000_000,
  extensionsHeader: undefined,
  versionHeader: undefined,
};

/** The readers and writers of one spelling. */
function codecs(spelling: Spelling): Codecs {
  return {
    'send.request': { read: readSendRequest, write: (request) => writeSendRequest(request, spelling) },
    'send.result': { read: readSendResult, write: (result) => writeEvent(result, spelling) },
    'stream.request': { read: readSendRequest, write: (request) => writeSendRequest(request, spelling) },
    'cancel.request': { read: readCancelRequest, write: writeCancelRequest },
    'cancel.result': { read: readTask, write: (task) => writeTask(task, spelling) },
    event: { read: readEvent, write: (event) => writeEvent(event, spelling) },
  };
}

/**
 * The envelope id of a send is the task's name. A cancel has an id of its own, or its answer would be
 * taken for the task's.
 */
function rpcId<K extends Shape>(shape: K, value: Shapes[K]): RpcId | undefined {
  if (shape !== 'send.request' && shape !== 'stream.request') return undefined;
  const { alias, message } = value as SendRequest;
  return alias ?? message.taskId;
}

/** One of SAM's two spellings: what its documentation says, and what its code sends. */
function build(id: string, title: string, spelling: Spelling): Dialect {
  return defineDialect({
    id: dialectId(id),
    title,
    methods: spelling === 'wire' ? WIRE : DOCUMENTED,
    aliases: ALIASES,
    detect: spelling === 'wire' ? () => 'no' : detectDocumented,
    codecs: codecs(spelling),
    error: { read: (raw) => readError(raw, codes), write: (error) => writePlainError(error, codes) },
    rpcId,
    card,
    openStream: (requestId) => openStream(requestId, spelling),
    traits,
    wire,
  });
}

/** As SAM's code sends it. Used only on a broker, where the mount fixes the dialect. */
export const sam: Dialect = build('sam', 'Solace Agent Mesh', 'wire');

/** As SAM's documents write it. */
export const samDocumented: Dialect = build('sam.documented', 'Solace Agent Mesh, as documented', 'documented');
