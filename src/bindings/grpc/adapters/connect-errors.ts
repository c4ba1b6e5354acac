import { fromBinary } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { errorHeaders, toCallerError } from '../../responses.ts';
import type { AdmittedCall } from '../host.ts';
import { StatusSchema } from './generated/google_rpc_pb.ts';
import { statusOf } from './status.ts';

/** The error that Connect sends for anything thrown: the same code, message and details as gRPC's. */
export function connectError(thrown: unknown, { onError }: Partial<Pick<AdmittedCall, 'onError'>>): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  const error = toCallerError(thrown, onError === undefined ? {} : { onError });
  const { code, message, details } = statusOf(error);
  const sent = new ConnectError(message, code, errorHeaders(error));
  if (details !== undefined) {
    sent.details = fromBinary(StatusSchema, details).details.map(({ typeUrl, value }) => ({
      type: typeUrl.slice(typeUrl.lastIndexOf('/') + 1),
      value,
    }));
  }
  return sent;
}

/** The result, unless the deadline passes or the caller disconnects first: Connect itself would wait on. */
export function untilEnded<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      const { reason } = signal;
      reject(reason instanceof ConnectError ? reason : new ConnectError('the call was cancelled', Code.Canceled));
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
