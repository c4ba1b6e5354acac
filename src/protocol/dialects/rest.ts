import type { A2AError } from '../errors.ts';
import type { Json } from '../json.ts';
import type { Operation } from '../operations.ts';

/** One route of an HTTP+JSON binding. Braces name members of the request: `/tasks/{id}:cancel`. */
export interface RestRoute {
  readonly verb: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly operation: Operation;
  /** Query members that are booleans. Readers accept numbers and enums as text anyway. */
  readonly flags?: readonly string[];
  /** Accepted but never sent, for example a second verb for the same operation. */
  readonly alias?: true;
}

/** A dialect's HTTP+JSON form. The request is made of the members of body, query and path. */
export interface RestGrammar {
  readonly routes: readonly RestRoute[];
  /** Whether each path may start with `/{tenant}`. */
  readonly tenants: boolean;
  readonly mediaType: string;
  /**
   * `status` overrides the error's own HTTP status, for requests that are rejected before they are read
   * (405, 415).
   */
  writeError(error: A2AError, status?: number): { readonly status: number; readonly body: Json };
  readError(status: number, body: unknown): A2AError;
}
