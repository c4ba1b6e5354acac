import type { Dialect, Json, Shape, Shapes } from '#protocol';
import { DIALECTS } from '#protocol';

/**
 * Keeps what an agent sent beside what was read of it: `json` prints protocol types untouched, members that nobody here knows included
 * (reference/cli §5.2). Only 1.0 is passed through; what an older dialect says is printed in 1.0's words.
 */
export interface Raws {
  keep(dialect: Dialect): Dialect;
  /** As it came, if it came as 1.0. */
  rawOf(value: object): Json | undefined;
  json<K extends Shape>(shape: K, value: Shapes[K]): Json;
}

const [canonical] = DIALECTS;

export function createRaws(): Raws {
  const raws = new WeakMap<object, Json>();
  const remember = (value: unknown, raw: unknown): void => {
    if (typeof value === 'object' && value !== null) raws.set(value, raw as Json);
  };
  return {
    keep: (dialect) => {
      if (dialect.id !== canonical?.id) return dialect;
      return {
        ...dialect,
        decode: (shape, raw, env) => {
          const decoded = dialect.decode(shape, raw, env);
          if (decoded.ok) remember(decoded.value, raw);
          return decoded;
        },
        openReader: (env) => {
          const reader = dialect.openReader(env);
          return {
            read: (raw) => {
              const decoded = reader.read(raw);
              if (decoded.ok && decoded.value.length === 1) remember(decoded.value[0], raw);
              return decoded;
            },
          };
        },
      };
    },
    rawOf: (value) => raws.get(value),
    json: (shape, value) => {
      const raw = typeof value === 'object' && value !== null ? raws.get(value) : undefined;
      if (raw !== undefined) return raw;
      return canonical === undefined ? null : canonical.encode(shape, value);
    },
  };
}
