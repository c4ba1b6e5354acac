import { A2AError } from '#protocol';
import type { HttpRequest } from '../../http.ts';
import type { GrpcHost } from '../host.ts';
import type { GrpcStatus } from '../wire.ts';

/** The messages of a request, as they arrive. */
export type OperatorRequests = AsyncIterable<Uint8Array>;

/** What a method knows of its call. */
export interface OperatorCall {
  readonly host: GrpcHost;
  readonly request: HttpRequest;
  /** Fires when the caller disconnects, and at shutdown. */
  readonly signal: AbortSignal;
}

/** A method of the services for operators and their tools, on bytes: health checks and reflection. */
export type OperatorMethod = (requests: OperatorRequests, call: OperatorCall) => AsyncGenerator<Uint8Array, void>;

/** `grpc-status` of a name that is not known. */
export const NOT_FOUND = 5;

/** Ends a call with a status that none of our errors has. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  /** With metadata of the response, if there is any. */
  readonly status: GrpcStatus & { readonly metadata?: Readonly<Record<string, string | string[]>> };

  constructor(status: StatusError['status']) {
    super(status.message);
    this.status = status;
  }
}

/** The error for a message that can't be read. */
export function badMessage(cause: unknown): A2AError {
  return new A2AError('INVALID_REQUEST', 'the request can’t be read', { cause });
}
