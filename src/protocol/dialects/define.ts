import { A2AError } from '../errors.ts';
import type { TaskEvent } from '../events.ts';
import type { Json } from '../json.ts';
import type { Operation, Shape, Shapes } from '../operations.ts';
import { OPERATION_NAMES } from '../operations.ts';
import type { Decoded, Dialect, ReadEnv, StreamReader, WebhookForm } from './dialect.ts';
import type { Reader } from './shared/read.ts';
import { attempt } from './shared/read.ts';

/** The reader and the writer of one shape. */
export interface Codec<T> {
  /** Reads the wire's JSON. Fails with `fail`. */
  readonly read: Reader<T>;
  /** Writes the wire's JSON. */
  readonly write: (value: T) => Json;
}

/** The codecs of a dialect by shape. A shape that is absent is not part of the dialect. */
export type Codecs = { readonly [K in Shape]?: Codec<Shapes[K]> };

/**
 * What a dialect's folder provides. `defineDialect` adds the parts that all dialects have in common.
 */
export type DialectSource = Omit<Dialect, 'decode' | 'encode' | 'operationOf' | 'openReader' | 'openStream' | 'webhook'> &
  Pick<Dialect, 'openStream'> & {
    readonly codecs: Codecs;
    /** Method names that it accepts besides those that it sends. */
    readonly aliases?: Readonly<Record<string, Operation>>;
    readonly openReader?: Dialect['openReader'];
    /** Default: the event, as it is written in streams. */
    readonly webhook?: WebhookForm;
  };

/**
 * Builds a dialect from its codecs, and adds what all dialects have in common: dispatch by shape,
 * method lookup, stream reader and webhook form.
 *
 * ```ts
 * export const acme: Dialect = defineDialect({
 *   id: dialectId('acme'), title: 'Acme', methods, codecs, detect, error, card, openStream, traits, wire, losses,
 * });
 * ```
 */
export function defineDialect(source: DialectSource): Dialect {
  const { codecs, aliases, ...rest } = source;
  const byMethod = new Map<string, Operation>(Object.entries(aliases ?? {}));
  for (const operation of OPERATION_NAMES) {
    const method = source.methods[operation];
    if (method !== undefined) byMethod.set(method, operation);
  }
  const decode = <K extends Shape>(shape: K, raw: unknown, env: ReadEnv): Decoded<Shapes[K]> => {
    const codec = codecs[shape];
    return codec === undefined ? { ok: false, reason: 'not-in-dialect' } : attempt(codec.read as Reader<Shapes[K]>, raw, env);
  };
  const encode = <K extends Shape>(shape: K, value: Shapes[K]): Json => {
    const codec = codecs[shape];
    if (codec === undefined) throw new A2AError('UNSUPPORTED_OPERATION', `${source.title} has no ${shape}`);
    return (codec.write as (value: unknown) => Json)(value);
  };
  return {
    ...rest,
    decode,
    encode,
    operationOf: (method) => byMethod.get(method),
    webhook: source.webhook ?? { carries: 'events', mediaType: 'application/json', write: (event) => encode('event', event) },
    openReader: source.openReader ?? ((env) => eventReader((raw) => decode('event', raw, env))),
  };
}

/** A reader for dialects in which each frame stands alone. */
function eventReader(decode: (raw: unknown) => Decoded<TaskEvent>): StreamReader {
  return {
    isPlain: true,
    read: (raw) => {
      const event = decode(raw);
      return event.ok ? { ok: true, value: [event.value] } : event;
    },
  };
}
