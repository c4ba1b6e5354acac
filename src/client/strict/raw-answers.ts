import type { A2AError, Dialect, Json, Registry, Shape, Shapes } from '#protocol';
import { CURRENT_DIALECT, createRegistry, DIALECTS, isObject } from '#protocol';

/**
 * Keeps what an agent sent beside what was read from it, so that a program can print the agent's own JSON, unknown members included (A2A CLI
 * specification §5.2). Only A2A 1.0 is passed through. Answers in other dialects are written as 1.0.
 *
 * ```ts
 * const answers = createRawAnswers();
 * const client = await A2AClient.connect('localhost:41242', { registry: answers.registry });
 * const task = await client.get('5d1c');
 * console.log(answers.json('get.result', task));
 * ```
 */
export interface RawAnswers {
  /** Pass it to the client: answers read with it are kept. */
  readonly registry: Registry;
  /** What the agent sent, if it was A2A 1.0. */
  rawOf(value: object): Json | undefined;
  /** What the agent sent, or else the value written as A2A 1.0. */
  json<K extends Shape>(shape: K, value: Shapes[K]): Json;
  /** The code of an error that the agent sent, `null` if it sent none. Undefined for an error that the client found itself. */
  codeOf(error: A2AError): number | string | null | undefined;
}

const canonical = createRegistry(DIALECTS).byId(CURRENT_DIALECT);

/** Creates the registry that keeps raw answers. Use one for each client. */
export function createRawAnswers(): RawAnswers {
  const raws = new WeakMap<object, Json>();
  const codes = new WeakMap<A2AError, number | string | null>();
  const dialects = DIALECTS.map((dialect) => keepingCodes(dialect === canonical ? keeping(dialect, raws) : dialect, codes));
  return {
    registry: createRegistry(dialects),
    rawOf: (value) => raws.get(value),
    codeOf: (error) => codes.get(error),
    json: (shape, value) => {
      const raw = typeof value === 'object' && value !== null ? raws.get(value) : undefined;
      if (raw !== undefined) return raw;
      return canonical === undefined ? null : canonical.encode(shape, value);
    },
  };
}

/** JSON-RPC: the code in the body. HTTP+JSON: the code in the body, or else the HTTP status. */
function keepingCodes(dialect: Dialect, codes: WeakMap<A2AError, number | string | null>): Dialect {
  const keep = (error: A2AError, raw: unknown, status: number | null): A2AError => {
    const code = isObject(raw) ? raw['code'] : undefined;
    codes.set(error, typeof code === 'number' || typeof code === 'string' ? code : status);
    return error;
  };
  const { rest } = dialect;
  return {
    ...dialect,
    error: { ...dialect.error, read: (raw) => keep(dialect.error.read(raw), raw, null) },
    ...(rest === undefined
      ? {}
      : {
          rest: {
            ...rest,
            readError: (status, body) => keep(rest.readError(status, body), isObject(body) ? (body['error'] ?? body) : body, status),
          },
        }),
  };
}

function keeping(dialect: Dialect, raws: WeakMap<object, Json>): Dialect {
  const keep = (value: unknown, raw: unknown): void => {
    if (typeof value === 'object' && value !== null) raws.set(value, raw as Json);
  };
  return {
    ...dialect,
    decode: (shape, raw, env) => {
      const decoded = dialect.decode(shape, raw, env);
      if (decoded.ok) keep(decoded.value, raw);
      return decoded;
    },
    openReader: (env) => {
      const reader = dialect.openReader(env);
      return {
        read: (raw) => {
          const decoded = reader.read(raw);
          if (decoded.ok && decoded.value.length === 1) keep(decoded.value[0], raw);
          return decoded;
        },
      };
    },
  };
}
