import type { AgentCard } from '../../card.ts';
import { dialectId } from '../../ids.ts';
import type { JsonDraft } from '../../json.ts';
import { isObject } from '../../json.ts';
import type { TaskPage } from '../../requests.ts';
import type { Codecs } from '../define.ts';
import { defineDialect } from '../define.ts';
import type { Dialect } from '../dialect.ts';
import { readError, writeBareError } from '../shared/errors.ts';
import type { Reader } from '../shared/read.ts';
import { isRaw, list } from '../shared/read.ts';
import { isQuestion } from '../shared/stream.ts';
import { taskWebhook } from '../shared/webhook.ts';
import type { CardEdition } from './card.ts';
import { cardCodec, cardReader, writeCard } from './card.ts';
import { CODES } from './codes.ts';
import { detectRest } from './detect.ts';
import { KIND_FORM, PROTO_FORM } from './form.ts';
import { closingStream, listCodecs, TRAITS, WIRE } from './kind-dialect.ts';
import { readers } from './read.ts';
import { sendReader, sendResultReader, taskPageReader } from './requests.ts';
import { rest, restStatus } from './rest.ts';
import {
  readConfigRequest,
  readConfiguration,
  readGetRequest,
  readPushCreateRequest,
  readPushListRequest,
  readPushPage,
  readTaskConfig,
  readTaskRequest,
  sendWriter,
  writeGetRequest,
  writePushCreateRequest,
  writePushListRequest,
  writePushPage,
  writeTaskConfig,
} from './rest-requests.ts';
import type { MissingMembers } from './write.ts';
import { writers } from './write.ts';

const NOTHING: MissingMembers = new Set();
const write = writers(PROTO_FORM, new Set(['Message.referenceTaskIds']));

/** 0.3 over HTTP+JSON: the ProtoJSON of its a2a.proto, which is what all official SDKs send under `/v1`. */
export function restDialect(card: CardEdition): Dialect {
  return defineDialect({
    id: dialectId('v03.rest'),
    title: 'A2A 0.3 HTTP+JSON',
    methods: {},
    detect: detectRest,
    claimsPaths: true,
    codecs: restCodecs(card),
    error: { read: (raw) => readError(raw, {}), write: (error) => writeBareError(error, CODES) },
    // The public card is the same document for every binding, and `v03` recognises it.
    card: { ...cardCodec(card, NOTHING), detect: () => 'no' },
    rest,
    openStream: (requestId) => closingStream(requestId, write.event),
    // A webhook that was registered over HTTP+JSON also gets the JSON of the specification (`kind`).
    webhook: taskWebhook(writers(KIND_FORM, NOTHING).task),
    traits: TRAITS,
    wire: { ...WIRE, httpStatusOnError: restStatus },
  });
}

/** Readers and writers of the HTTP+JSON form, which is ProtoJSON. */
function restCodecs(card: CardEdition): Codecs {
  const read = readers(PROTO_FORM);
  const send: Codecs['send.request'] = { read: sendReader(read, readConfiguration), write: sendWriter(write.message) };
  const task = { read: read.task, write: write.task };
  const taskConfig = { read: readTaskConfig, write: writeTaskConfig };
  const oneConfig: Codecs['push.delete.request'] = { read: readConfigRequest, write: (r) => ({ taskId: r.taskId, id: r.id }) };
  return {
    'send.request': send,
    'send.result': { read: sendResultReader(read), write: (result) => write.event(result, false) },
    'stream.request': send,
    'get.request': { read: readGetRequest, write: writeGetRequest },
    'get.result': task,
    ...listCodecs(PROTO_FORM, {
      read: pageOrListReader(read.task),
      write: ({ tasks, ...page }) => ({ tasks: tasks.map(write.task), ...page }),
    }),
    'cancel.request': { read: readTaskRequest, write: (r) => ({ id: r.id }) },
    'cancel.result': task,
    'subscribe.request': { read: readTaskRequest, write: (r) => ({ id: r.id }) },
    'push.create.request': { read: readPushCreateRequest, write: writePushCreateRequest },
    'push.create.result': taskConfig,
    'push.get.request': { read: readConfigRequest, write: (r) => ({ taskId: r.taskId, id: r.id ?? '' }) },
    'push.get.result': taskConfig,
    'push.list.request': { read: readPushListRequest, write: writePushListRequest },
    'push.list.result': { read: readPushPage, write: writePushPage },
    'push.delete.request': oneConfig,
    'push.delete.result': { read: () => null, write: () => ({}) },
    'extendedCard.request': { read: () => ({}), write: () => ({}) },
    'extendedCard.result': { read: cardReader(card), write: (value) => bothShapes(value, writeCard(value, card, NOTHING)) },
    event: { read: read.event, write: (event) => write.event(event, isQuestion(event)) },
  };
}

/**
 * `GET /v1/tasks` answers `[Task]` in the text (A2A 0.3.0 §7.3), which has no place for a page token. Go's compatibility layer, the one client that
 * calls it, reads a page.
 */
function pageOrListReader(task: Reader<TaskPage['tasks'][number]>): Reader<TaskPage> {
  const page = taskPageReader(task);
  return (raw, env) => {
    if (isRaw(raw)) return page(raw, env);
    const tasks = list(raw, '', task, env);
    return { tasks, nextPageToken: '', pageSize: tasks.length, totalSize: tasks.length };
  };
}

/**
 * The JS client reads `/v1/card` as ProtoJSON, the Python client as flat JSON. Schemes can have both forms at once. `security` can't and
 * stays flat: Python refuses the other form, and JS ignores it.
 */
function bothShapes(card: AgentCard, flat: JsonDraft): JsonDraft {
  if (card.securitySchemes === undefined) return flat;
  const schemes = isObject(flat.securitySchemes) ? flat.securitySchemes : {};
  const merged = Object.entries(card.securitySchemes).map(([name, scheme]) => [name, { ...(schemes[name] as JsonDraft), ...scheme }]);
  return { ...flat, securitySchemes: Object.fromEntries(merged) };
}
