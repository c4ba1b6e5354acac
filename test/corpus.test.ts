import { describe, expect, it } from 'vitest';
import type { Decoded, Dialect, Json, Logged, Operation, Shape, TaskEvent } from '#protocol';
import { A2AError, createRegistry, DIALECTS, isStreamOperation, seq } from '#protocol';
import type { Exchange } from './support/corpus.ts';
import { corpus, corpusDialects } from './support/corpus.ts';
import { countingEnv } from './support/env.ts';
import { restCall, restRequest } from './support/rest.ts';

const registry = createRegistry(DIALECTS);
const FAMILIES = [...new Set(DIALECTS.map((dialect) => dialect.id.split('.')[0]))];

describe('corpus', () => {
  it('has a folder for every dialect and no other', () => {
    expect(corpusDialects()).toEqual(FAMILIES.toSorted());
  });

  it('has an exchange in every dialect and variant that can be detected or chosen by a client', () => {
    const recorded = new Set(
      corpusDialects()
        .flatMap(corpus)
        .map(({ dialect }) => dialect),
    );
    // v10.mqtt exists on a broker only. src/protocol/dialects/v10/mqtt.test.ts and test/mesh/ test it.
    expect(DIALECTS.map(({ id }) => String(id)).filter((id) => !recorded.has(id))).toEqual(['v10.mqtt']);
  });

  for (const folder of corpusDialects()) {
    describe(folder, () => {
      const exchanges = corpus(folder);
      it('has at least 15 exchanges, each with a source', () => {
        expect(exchanges.length).toBeGreaterThanOrEqual(15);
        for (const exchange of exchanges) expect(exchange.source, exchange.file).toMatch(/\S{4}/);
      });
      for (const exchange of exchanges) describe(exchange.file, () => checkExchange(exchange));
    });
  }
});

function checkExchange(exchange: Exchange): void {
  const dialect = registry.byId(exchange.dialect);
  if (dialect === undefined) throw new Error(`${exchange.file}: unknown dialect ${exchange.dialect}`);
  if (exchange.request !== undefined) checkRequest(exchange, dialect, exchange.request);
  if (exchange.rest !== undefined && exchange.canonical.request !== undefined) checkRest(exchange, dialect, exchange.rest);
  if (exchange.canonical.error !== undefined) checkError(exchange, dialect);
  if (exchange.canonical.result !== undefined && exchange.frames === undefined) checkResult(exchange, dialect);
  if (exchange.frames !== undefined) checkFrames(exchange, dialect, exchange.frames);
  if (exchange.canonical.card !== undefined) checkCard(exchange, dialect);
}

function checkRequest(exchange: Exchange, dialect: Dialect, request: NonNullable<Exchange['request']>): void {
  const shape = `${exchange.operation as Operation}.request` as Shape;
  const only = exchange.only?.request;
  it(exchange.topic === undefined ? 'is detected' : 'is not detected, because its mount fixes the dialect', () => {
    const hints = { method: request.method, params: request.params };
    if (exchange.topic !== undefined) return expect(dialect.detect(hints)).toBe('no');
    // Requests about a task often have no marks of their own; the node remembers in which dialect the task was made.
    const found = registry.detect({ path: exchange.path ?? '/', ...hints }, () => dialect.id);
    // 0.2 and other variants are chosen by a mount or a card. Detection finds the member of their family that it can recognise.
    expect([dialect.id, ...sharers(dialect)]).toContain(found?.id);
  });
  if (exchange.canonical.request === undefined) return;
  if (only !== 'write') {
    it('reads the request', () => {
      expect(dialect.operationOf(request.method)).toBe(exchange.operation);
      const env = { ...countingEnv(), ...(request.id === undefined ? {} : { rpcId: request.id }) };
      expect(decodedValue(dialect.decode(shape, request.params, env))).toEqual(exchange.canonical.request);
    });
  }
  if (only !== 'read') {
    it('writes the request', () => {
      expect(plain(dialect.encode(shape, exchange.canonical.request as never))).toEqual(request.params);
    });
  }
}

function checkRest(exchange: Exchange, dialect: Dialect, rest: NonNullable<Exchange['rest']>): void {
  const operation = exchange.operation as Operation;
  const shape = `${operation}.request` as Shape;
  const grammar = dialect.rest;
  if (grammar === undefined) throw new Error(`${exchange.file}: ${dialect.id} has no HTTP+JSON form`);
  if (exchange.only?.request !== 'write') {
    it('reads the request', () => {
      const found = restRequest(grammar, rest);
      expect(found?.operation).toBe(operation);
      expect(decodedValue(dialect.decode(shape, found?.raw, countingEnv()))).toEqual(exchange.canonical.request);
    });
  }
  if (exchange.only?.request !== 'read') {
    it('writes the request', () => {
      const written = dialect.encode(shape, exchange.canonical.request as never);
      expect(comparable(restCall(grammar, operation, plain(written) as Json))).toEqual(comparable(rest));
    });
  }
}

/** The order of a query has no meaning, and neither has an empty body. */
function comparable({ verb, path, body }: NonNullable<Exchange['rest']>): unknown {
  const { pathname, searchParams } = new URL(path, 'http://host');
  return { verb, pathname, query: Object.fromEntries(searchParams), body: body ?? {} };
}

/** Dialects that come earlier in the registry and whose requests look the same, so detection finds them instead. */
function sharers(dialect: Dialect): readonly string[] {
  return dialect.id.startsWith('v02') || dialect.id.startsWith('v03.') ? ['v03'] : dialect.id === 'v10.generation' ? ['v10'] : [];
}

function checkResult(exchange: Exchange, dialect: Dialect): void {
  const shape = `${exchange.operation as Operation}.result` as Shape;
  const wire = exchange.rest === undefined ? (exchange.response as { result: Json }).result : exchange.response;
  if (exchange.only?.response !== 'write') {
    it('reads the result', () => {
      expect(decodedValue(dialect.decode(shape, wire, countingEnv()))).toEqual(exchange.canonical.result);
    });
  }
  if (exchange.only?.response !== 'read') {
    it('writes the result', () => {
      expect(plain(dialect.encode(shape, exchange.canonical.result as never))).toEqual(wire);
    });
  }
}

function checkError(exchange: Exchange, dialect: Dialect): void {
  const expected = exchange.canonical.error;
  if (expected === undefined) return;
  const wire = (exchange.response as { error: Json }).error;
  if (exchange.only?.response !== 'write') {
    it('reads the error', () => {
      const error =
        exchange.rest === undefined ? dialect.error.read(wire) : dialect.rest?.readError(exchange.status ?? 0, exchange.response);
      expect(error?.kind).toBe(expected.kind);
      if (expected.message !== undefined) expect(error?.message).toBe(expected.message);
      if (expected.details !== undefined) expect(error?.details).toEqual(expected.details);
    });
  }
  if (exchange.only?.response !== 'read') {
    it('writes the error', () => {
      const error = new A2AError(expected.kind, expected.message, expected.details);
      if (exchange.rest === undefined) return expect(plain(dialect.error.write(error))).toEqual(wire);
      expect(plain(dialect.rest?.writeError(error))).toEqual({ status: exchange.status, body: exchange.response });
    });
  }
}

function checkFrames(exchange: Exchange, dialect: Dialect, frames: readonly string[]): void {
  const events = exchange.canonical.events ?? [];
  if (exchange.only?.response !== 'write') {
    it('reads the stream', () => {
      const reader = dialect.openReader(countingEnv());
      const seen: TaskEvent[] = [];
      for (const frame of frames) {
        if (frame === '[DONE]') continue;
        seen.push(...decodedValue(reader.read(withoutEnvelope(JSON.parse(frame)))));
      }
      expect(seen).toEqual(events);
    });
  }
  if (exchange.only?.response !== 'read') {
    it('writes the stream', () => {
      expect(isStreamOperation(exchange.operation as Operation)).toBe(true);
      const writer = dialect.openStream(exchange.rest === undefined ? (exchange.request?.id ?? null) : undefined);
      const closing = exchange.staysOpen === true ? undefined : lastQuestion(events);
      const logged: Logged[] = events.map((event, at) => ({ seq: seq(at + 1), event, ...(event === closing ? { closes: true } : {}) }));
      const task = exchange.canonical.result as never;
      const written = [...writer.frames(logged), ...writer.end(task)];
      expect(written.map((frame) => parsed(String(frame.data)))).toEqual(frames.map(parsed));
    });
  }
}

/** The question that a recorded stream ends with. */
function lastQuestion(events: readonly TaskEvent[]): TaskEvent | undefined {
  const last = events.findLast(({ task }) => task === undefined);
  return last?.statusUpdate?.status.state === 'TASK_STATE_INPUT_REQUIRED' ? last : undefined;
}

function checkCard(exchange: Exchange, dialect: Dialect): void {
  if (exchange.only?.response !== 'write') {
    it('reads the card', () => {
      const found = registry.readCard(exchange.response, countingEnv());
      expect([dialect.id, ...sharers(dialect)]).toContain(found?.dialect.id);
      expect(decodedValue(dialect.card.read(exchange.response, countingEnv()))).toEqual(exchange.canonical.card);
    });
  }
  if (exchange.only?.response !== 'read' && exchange.canonical.card !== undefined) {
    const { card } = exchange.canonical;
    it('writes the card', () => expect(plain(dialect.card.write(card))).toEqual(exchange.response));
  }
}

function decodedValue<T>(decoded: Decoded<T>): T {
  if (!decoded.ok) throw new Error(`not decoded: ${JSON.stringify(decoded)}`);
  return plain(decoded.value) as T;
}

/** The value as a reader on the other side gets it: no undefined members, no prototypes. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function parsed(data: string): unknown {
  return data === '[DONE]' ? data : JSON.parse(data);
}

function withoutEnvelope(frame: unknown): unknown {
  return typeof frame === 'object' && frame !== null && 'jsonrpc' in frame && 'result' in frame ? frame.result : frame;
}
