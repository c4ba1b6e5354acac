import type { AgentCard } from './card.ts';
import type { Registry } from './dialects/create-registry.ts';
import type { Decoded, Dialect, ReadEnv, RpcId } from './dialects/dialect.ts';
import { invalidParams } from './dialects/fault.ts';
import { equal } from './differences.ts';
import { distance, leaves, withoutEnvelope } from './documents.ts';
import { A2AError } from './errors.ts';
import type { Json } from './json.ts';
import type { Lost } from './losses.ts';
import { encodeWithLosses, writeCardWithLosses } from './losses.ts';
import { membersOf } from './members.ts';
import type { Operation, Shape, Shapes } from './operations.ts';
import { bestRecording, writeRecording } from './recordings.ts';

/**
 * Kind of a document. When it is not given, it is detected: a request by its method, a card by its
 * shape, a response or an event by decoding it in every dialect and keeping the dialect that writes the
 * same bytes.
 */
export type DocumentKind = 'request' | 'response' | 'event' | 'card';

/** Options of `translate`. */
export interface TranslateOptions {
  /** Dialects to detect from; usually `createRegistry(DIALECTS)`. */
  readonly registry: Registry;
  /** Limits and id source of the readers. */
  readonly env: ReadEnv;
  /** Dialect of the output. */
  readonly to: Dialect;
  /** Dialect of the input. Absent: detected. */
  readonly from?: Dialect;
  /** Absent: detected. */
  readonly kind?: DocumentKind;
  /** URL path of a request. Some dialects differ only in it. */
  readonly path?: string;
  /** Operation that a response belongs to, if dialects answer it differently. Absent: detected. */
  readonly operation?: Operation;
}

/** A translated document. */
export interface Translation {
  /** Dialect of the input, given or detected. */
  readonly from: Dialect;
  readonly kind: DocumentKind;
  readonly operation?: Operation;
  /** One document. An event may become several frames, or none. */
  readonly output: readonly Json[];
  /** Fields that the output can't express. */
  readonly lost: readonly Lost[];
}

/**
 * Translates one document (request, response, event or card) from any dialect to any other, and reports
 * what was lost. Throws an `A2AError` for a document that no dialect can read.
 *
 * ```ts
 * const registry = createRegistry(DIALECTS);
 * const env = { limits: DEFAULT_READ_LIMITS, ids: randomIds };
 * const to = registry.byId(dialectId('v03'));
 * const { output, lost } = translate(document, { registry, env, to });
 * ```
 */
export function translate(document: unknown, options: TranslateOptions): Translation {
  const { jsonDepthMax } = options.env.limits;
  if (!nestsWithin(document, jsonDepthMax)) throw new A2AError('PARSE_ERROR', `the document is nested deeper than ${jsonDepthMax}`);
  const kind = options.kind ?? kindOf(document, options);
  switch (kind) {
    case 'request':
      return translateRequest(document, options);
    case 'response':
      return translateResponse(document, options);
    case 'event':
      return translateEvent(document, options);
    case 'card':
      return translateCard(document, options);
  }
}

function nestsWithin(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return left > 0 && Object.values(value).every((member) => nestsWithin(member, left - 1));
}

function kindOf(document: unknown, options: TranslateOptions): DocumentKind {
  const members = membersOf(document);
  if (typeof members['method'] === 'string') return 'request';
  if ('error' in members) return 'response';
  const found = options.registry.readCard(document, options.env);
  if (found?.card.ok === true && 'name' in members) return 'card';
  const [answer, event] = [bestReading(document, options), bestRecording([document], options)];
  return event !== undefined && (answer === undefined || event.apart < answer.apart) ? 'event' : 'response';
}

function translateRequest(document: unknown, options: TranslateOptions): Translation {
  const { method, params, id } = membersOf(document);
  if (typeof method !== 'string') throw new A2AError('INVALID_REQUEST', 'a request has a method', { field: 'method' });
  const from = options.from ?? options.registry.detect({ method, params, ...(options.path === undefined ? {} : { path: options.path }) });
  const operation = from?.operationOf(method);
  if (from === undefined) throw new A2AError('METHOD_NOT_FOUND', `no dialect has a method ${method}`);
  if (operation === undefined) throw new A2AError('METHOD_NOT_FOUND', `${from.title} has no method ${method}`);
  const shape = `${operation}.request` as const;
  const rpcId = typeof id === 'string' || typeof id === 'number' ? { rpcId: id } : {};
  const value = demand(from.decode(shape, params, { ...options.env, ...rpcId }), from, 'params');
  const name = options.to.methods[operation];
  if (name === undefined) throw new A2AError('UNSUPPORTED_OPERATION', `${options.to.title} has no ${operation}`);
  const { json, lost, kept } = encodeWithLosses(options.to, [shape, value], options.env);
  if (kept === undefined) demand(options.to.decode(shape, json, options.env), options.to, 'params');
  return { from, kind: 'request', operation, lost, output: [{ jsonrpc: '2.0', id: (id ?? null) as Json, method: name, params: json }] };
}

function translateResponse(document: unknown, options: TranslateOptions): Translation {
  const members = membersOf(document);
  const envelope = (answer: Record<string, Json>): Json =>
    'jsonrpc' in members ? { jsonrpc: '2.0', id: (members['id'] ?? null) as Json, ...answer } : (Object.values(answer)[0] as Json);
  if ('error' in members) return translateError(members['error'], envelope, options);
  const best = bestReading(document, options);
  if (best === undefined) throw unreadable('response', options);
  const { json, lost } = encodeWithLosses(options.to, [best.shape, best.value as never], options.env);
  return { from: best.dialect, kind: 'response', operation: best.operation, lost, output: [envelope({ result: json })] };
}

/**
 * Translates an error object. Its code means different things in different versions, so the source
 * dialect is the one that writes the same bytes again.
 */
function translateError(raw: unknown, envelope: (answer: Record<string, Json>) => Json, options: TranslateOptions): Translation {
  let from: Dialect | undefined;
  let nearest = Number.POSITIVE_INFINITY;
  for (const dialect of options.from === undefined ? options.registry.all : [options.from]) {
    const apart = distance(raw, plain(dialect.error.write(dialect.error.read(raw))));
    if (apart < nearest) [from, nearest] = [dialect, apart];
  }
  if (from === undefined) throw new A2AError('INVALID_REQUEST', 'no dialect to read with');
  const error = from.error.read(raw);
  const json = plain(options.to.error.write(error));
  return { from, kind: 'response', lost: lostOf(error, options.to.error.read(json), options.to), output: [envelope({ error: json })] };
}

/**
 * What a reader of the written error no longer sees. The loss tables of dialects do not list errors;
 * the table of codes in docs/protocol.md does.
 */
function lostOf(error: A2AError, kept: A2AError, to: Dialect): readonly Lost[] {
  const clause = 'docs/protocol.md, Errors';
  const lost = (member: string, [was, is]: readonly unknown[], reason: string): Lost => {
    const field = `Error.${member}`;
    return { path: `error.${member}`, field, was, is, owner: {}, loss: { field, reason, clause } };
  };
  const told = saidOf(kept);
  const unsaid = Object.entries(saidOf(error)).filter(([name, value]) => !equal(told[name], value));
  return [
    ...(error.kind === kept.kind ? [] : [lost('code', [error.kind, kept.kind], `${to.title} has no code of its own for ${error.kind}`)]),
    ...unsaid.map(([name, was]) => lost(`data.${name}`, [was, told[name]], `an error of ${to.title} has no place for it`)),
  ];
}

/** All facts of an error besides its kind and its message. */
function saidOf({ details: { field, data, info } }: A2AError): Readonly<Record<string, Json>> {
  return { ...data, ...info, ...(field === undefined ? {} : { field }) };
}

function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

function translateEvent(document: unknown, options: TranslateOptions): Translation {
  return translateEvents([document], options);
}

/**
 * Translates a recorded stream in order, with one reader and one writer, since both keep state between
 * events.
 */
export function translateEvents(documents: readonly unknown[], options: TranslateOptions): Translation {
  const best = bestRecording(documents, options);
  if (best === undefined) throw unreadable('event', options);
  const first = membersOf(documents[0]);
  const id = 'jsonrpc' in first ? ((first['id'] ?? null) as RpcId) : undefined;
  const lost = best.events.flatMap((event) => encodeWithLosses(options.to, ['event', event], options.env).lost);
  return { from: best.dialect, kind: 'event', lost, output: writeRecording(options.to, best.events, id) };
}

function translateCard(document: unknown, options: TranslateOptions): Translation {
  const found =
    options.from === undefined
      ? options.registry.readCard(document, options.env)
      : { dialect: options.from, card: options.from.card.read(document, options.env) };
  if (found === undefined) throw unreadable('card', options);
  const card: AgentCard = demand(found.card, found.dialect, '');
  const { json, lost } = writeCardWithLosses(options.to, card, options.env);
  return { from: found.dialect, kind: 'card', lost, output: [json] };
}

interface Reading {
  readonly dialect: Dialect;
  readonly operation: Operation;
  readonly shape: Shape;
  readonly value: unknown;
  readonly apart: number;
}

const ANSWERS: readonly Operation[] = ['send', 'get', 'list', 'push.get', 'push.list', 'extendedCard'];

/**
 * Decodes a response in every dialect and keeps the decoding whose re-encoding is nearest to the
 * original. Readers are lenient and accept almost anything, so a decoding that keeps nothing of the
 * document is discarded.
 */
function bestReading(document: unknown, options: TranslateOptions): Reading | undefined {
  const raw = withoutEnvelope(document);
  let best: Reading | undefined;
  for (const dialect of options.from === undefined ? options.registry.all : [options.from]) {
    for (const reading of answerReadings(dialect, raw, options)) if (reading.apart < (best?.apart ?? leaves(raw))) best = reading;
  }
  return best;
}

function answerReadings(dialect: Dialect, raw: unknown, options: TranslateOptions): readonly Reading[] {
  const operations = options.operation === undefined ? ANSWERS : [options.operation];
  return operations.flatMap((operation) => {
    const shape = `${operation}.result` as Extract<Shape, `${string}.result`>;
    const read = dialect.decode(shape, raw, options.env);
    if (!read.ok || read.value === null) return [];
    const written = dialect.encode(shape, read.value as Shapes[typeof shape] as never);
    return [{ dialect, operation, shape, value: read.value, apart: distance(raw, written) }];
  });
}

function demand<T>(decoded: Decoded<T>, from: Dialect, name: string): T {
  if (decoded.ok) return decoded.value;
  if (decoded.reason === 'not-in-dialect') throw new A2AError('UNSUPPORTED_OPERATION', `${from.title} has no such document`);
  const fault = invalidParams({ path: [name, decoded.path].filter((piece) => piece !== '').join('.'), problem: decoded.problem });
  throw new A2AError('INVALID_PARAMS', `as ${from.title}: ${fault.message}`, fault.details);
}

function unreadable(kind: DocumentKind, options: TranslateOptions): A2AError {
  const who = options.from === undefined ? 'any known dialect' : options.from.title;
  const what = options.kind === undefined ? 'request, response, event or card' : kind;
  return new A2AError('INVALID_REQUEST', `not a ${what} of ${who}`);
}
