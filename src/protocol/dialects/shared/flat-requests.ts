import type { TenantId } from '../../ids.ts';
import type { Json, Mutable } from '../../json.ts';
import type { Message } from '../../message.ts';
import type { CancelRequest, GetRequest, ListRequest, SendConfiguration, SendRequest, SubscribeRequest, TaskPage } from '../../requests.ts';
import type { Task } from '../../task.ts';
import type { ReadEnv } from '../dialect.ts';
import { modesIf } from './card.ts';
import { contextIf } from './flat-model.ts';
import type { FlatVocabulary } from './flat-vocabulary.ts';
import type { Raw, Reader } from './read.ts';
import { countIf, flagIf, idIf, list, member, memberIf, metadataIf, object, oneOf, taskIdIn, textIf } from './read.ts';
import { timestampIf } from './values.ts';

/**
 * Requests of the products that use 1.0's shapes and 0.x's `blocking`. The readers accept every member
 * that 1.0 has. Each product's writer leaves out what the product has no place for.
 */
export interface SendReaders {
  readonly message: Reader<Message>;
  readonly configuration: Reader<SendConfiguration>;
}

/** Reads the parameters of a send. `inside` reads the parts that differ between products. */
export function readFlatSend(raw: unknown, env: ReadEnv, inside: SendReaders): SendRequest {
  const r = object(raw);
  const out: Mutable<SendRequest> = { message: member(r.message, 'message', inside.message, env) };
  const configuration = memberIf(r.configuration, 'configuration', inside.configuration, env);
  if (configuration !== undefined) out.configuration = configuration;
  const metadata = metadataIf(r.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return withTenant(out, r, env);
}

/** Reads `blocking`, of which `returnImmediately` is the opposite, and the members that 1.0 shares. */
export function readFlatConfiguration(raw: unknown): Mutable<SendConfiguration> {
  const c = object(raw);
  const out: Mutable<SendConfiguration> = {};
  const modes = modesIf(c.acceptedOutputModes, 'acceptedOutputModes');
  if (modes !== undefined) out.acceptedOutputModes = modes;
  const historyLength = countIf(c.historyLength, 'historyLength');
  if (historyLength !== undefined) out.historyLength = historyLength;
  const blocking = flagIf(c.blocking, 'blocking');
  if (blocking !== undefined) out.returnImmediately = !blocking;
  return out;
}

/** The opposite of `readFlatConfiguration`. */
export function writeFlatConfiguration(configuration: SendConfiguration): { [key: string]: Json } {
  const { acceptedOutputModes, historyLength, returnImmediately } = configuration;
  const out: { [key: string]: Json } = {};
  if (acceptedOutputModes !== undefined) out.acceptedOutputModes = acceptedOutputModes;
  if (historyLength !== undefined) out.historyLength = historyLength;
  if (returnImmediately !== undefined) out.blocking = !returnImmediately;
  return out;
}

export function readFlatGet(raw: unknown, env: ReadEnv): GetRequest {
  const r = object(raw);
  const out: Mutable<GetRequest> = { id: taskIdIn(r, env) };
  const historyLength = countIf(r.historyLength, 'historyLength');
  if (historyLength !== undefined) out.historyLength = historyLength;
  return withTenant(out, r, env);
}

export function readFlatCancel(raw: unknown, env: ReadEnv): CancelRequest {
  const r = object(raw);
  const out: Mutable<CancelRequest> = { id: taskIdIn(r, env) };
  const metadata = metadataIf(r.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return withTenant(out, r, env);
}

export function readFlatSubscribe(raw: unknown, env: ReadEnv): SubscribeRequest {
  const r = object(raw);
  const out: Mutable<SubscribeRequest> = { id: taskIdIn(r, env) };
  return withTenant(out, r, env);
}

const PAGE_SIZE_MAX = 100;

/** Brings a page size into the range that 1.0 allows, because these products accept any number. */
export function readFlatList(raw: unknown, env: ReadEnv, vocabulary: Pick<FlatVocabulary, 'states' | 'contextCharsMax'>): ListRequest {
  const r = raw === undefined || raw === null ? {} : object(raw);
  const out: Mutable<ListRequest> = {};
  const contextId = contextIf(r.contextId ?? r.context_id, env, vocabulary);
  if (contextId !== undefined) out.contextId = contextId;
  const status = memberIf(r.status, 'status', (value) => oneOf(value, '', vocabulary.states), env);
  if (status !== undefined && status !== 'TASK_STATE_UNSPECIFIED') out.status = status;
  const pageSize = countIf(r.pageSize, 'pageSize');
  if (pageSize) out.pageSize = Math.min(pageSize, PAGE_SIZE_MAX);
  const pageToken = textIf(r.pageToken, 'pageToken');
  if (pageToken) out.pageToken = pageToken;
  const historyLength = countIf(r.historyLength, 'historyLength');
  if (historyLength !== undefined) out.historyLength = historyLength;
  const after = timestampIf(r.statusTimestampAfter, 'statusTimestampAfter');
  if (after !== undefined) out.statusTimestampAfter = after;
  const includeArtifacts = flagIf(r.includeArtifacts, 'includeArtifacts');
  if (includeArtifacts !== undefined) out.includeArtifacts = includeArtifacts;
  return withTenant(out, r, env);
}

/** Absent members get the values of a page that holds all tasks. */
export function readFlatPage(raw: unknown, env: ReadEnv, task: Reader<Task>): TaskPage {
  const p = object(raw);
  const tasks = p.tasks === null ? [] : list(p.tasks, 'tasks', task, env);
  return {
    tasks,
    nextPageToken: textIf(p.nextPageToken, 'nextPageToken') ?? '',
    pageSize: countIf(p.pageSize, 'pageSize') ?? tasks.length,
    totalSize: countIf(p.totalSize, 'totalSize') ?? tasks.length,
  };
}

export function withTenant<T extends { tenant?: TenantId }>(out: T, raw: Raw, env: ReadEnv): T {
  const tenant = idIf<TenantId>(raw.tenant, 'tenant', env);
  if (tenant !== undefined) out.tenant = tenant;
  return out;
}
