import type { A2AError } from '../errors.ts';
import type { Json } from '../json.ts';
import type { Operation } from '../operations.ts';

/** One line of an HTTP+JSON binding. Braces name members of the request: `/tasks/{id}:cancel`. */
export interface RestRoute {
  readonly verb: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly operation: Operation;
  /** Query members that are booleans; numbers and enums are read from text anyway. */
  readonly flags?: readonly string[];
  /** Accepted, never sent: another verb for the same thing. */
  readonly alias?: true;
}

/** How a dialect speaks HTTP+JSON, where it does. The request is body, query and path members put together. */
export interface RestGrammar {
  readonly routes: readonly RestRoute[];
  /** A leading `/{tenant}` segment is part of the grammar. */
  readonly tenants: boolean;
  readonly mediaType: string;
  /** `status`: of a refusal at the door that has one of its own (405, 415), in place of the error's. */
  writeError(error: A2AError, status?: number): { readonly status: number; readonly body: Json };
  readError(status: number, body: unknown): A2AError;
}
