import type { Dialect, Json, Registry, Shape, Shapes } from '#protocol';
import { CURRENT_DIALECT, createRegistry, DIALECTS } from '#protocol';

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
}

const canonical = createRegistry(DIALECTS).byId(CURRENT_DIALECT);

/** Creates the registry that keeps raw answers. Use one for each client. */
export function createRawAnswers(): RawAnswers {
  const raws = new WeakMap<object, Json>();
  const dialects = DIALECTS.map((dialect) => (dialect === canonical ? keeping(dialect, raws) : dialect));
  return {
    registry: createRegistry(dialects),
    rawOf: (value) => raws.get(value),
    json: (shape, value) => {
      const raw = typeof value === 'object' && value !== null ? raws.get(value) : undefined;
      if (raw !== undefined) return raw;
      return canonical === undefined ? null : canonical.encode(shape, value);
    },
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
