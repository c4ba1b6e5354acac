import { readdirSync, readFileSync } from 'node:fs';
import type { AgentCard, ErrorDetails, ErrorKind, Json, Operation, TaskEvent } from '#protocol';

/**
 * One recorded exchange, in `test/corpus/<dialect>/<operation>-<case>.json`. The wire members are bytes of another program or document,
 * named by `source`; `canonical` is their meaning. Our own encoder never wrote any of them.
 */
export interface Exchange {
  readonly file: string;
  /** Where the wire members come from, by the short names of docs/sources.md. */
  readonly source: string;
  readonly note?: string;
  readonly dialect: string;
  readonly operation: Operation | 'card' | 'error';
  /** POST path of the request; `/` if absent. */
  readonly path?: string;
  /** Broker topic of the request, in place of a path. The mount fixes the dialect there, so nothing is detected. */
  readonly topic?: string;
  /** JSON-RPC request as sent. For HTTP+JSON, `rest` has the rest. */
  readonly request?: { readonly jsonrpc?: string; readonly id?: string | number | null; readonly method: string; readonly params?: Json };
  /** HTTP+JSON instead of JSON-RPC: verb, path with query, body. `response` is then the bare body. */
  readonly rest?: { readonly verb: string; readonly path: string; readonly body?: Json };
  /** JSON-RPC response as received (`{jsonrpc,id,result|error}`), or the bare body for `rest` and cards. */
  readonly response?: Json;
  /** HTTP status of an HTTP+JSON error. Some peers report the error only by it. */
  readonly status?: number;
  /** Server-sent events as received: the text after `data: `. */
  readonly frames?: readonly string[];
  /** The stream stays open after the last of `frames`, although the task waits for its caller. */
  readonly staysOpen?: true;
  readonly canonical: {
    readonly request?: Json;
    readonly result?: Json;
    readonly error?: { readonly kind: ErrorKind; readonly message?: string; readonly details?: ErrorDetails };
    readonly events?: readonly TaskEvent[];
    readonly card?: AgentCard;
  };
  /**
   * What is checked, if not everything: `read` for bytes that we accept and never send (the product's documents and code differ, or a
   * longer spelling), `write` for bytes that carry less than the canonical value. `why` explains it.
   */
  readonly only?: { readonly request?: 'read' | 'write'; readonly response?: 'read' | 'write'; readonly why: string };
}

const FOLDER = new URL('../corpus/', import.meta.url);

export function corpus(dialect: string): readonly Exchange[] {
  const folder = new URL(`${dialect}/`, FOLDER);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => ({ file: `${dialect}/${name}`, ...JSON.parse(readFileSync(new URL(name, folder), 'utf8')) }));
}

export function corpusDialects(): readonly string[] {
  return readdirSync(FOLDER).sort();
}
