import type { A2AService, CallContext } from '#protocol';
import { CALL_TIMEOUT, CALL_TIMEOUT_MS } from './limits.ts';

const NOTE_AFTER_MS = 2000;

interface Waiting {
  readonly url: string;
  /** The value of `--timeout`. */
  readonly timeout: string | undefined;
  readonly note: (text: string) => void;
}

/** Says which answer is waited for and how long, once it takes a while. */
export async function noting<T>({ url, timeout, note }: Waiting, call: () => Promise<T>): Promise<T> {
  const host = URL.canParse(url) ? new URL(url).host : url;
  const timer = setTimeout(() => {
    note(`waiting for an answer of ${host}, for ${timeout ?? CALL_TIMEOUT} at most; --timeout changes that\n`);
  }, NOTE_AFTER_MS);
  try {
    return await call();
  } finally {
    clearTimeout(timer);
  }
}

/** Ends a call that has one answer after a minute, unless `--timeout` says something else. Streams have no limit. */
export function withCallTimeout(next: A2AService, waiting: Waiting): A2AService {
  const limited =
    <Request, Result>(call: (request: Request, ctx: CallContext) => Promise<Result>) =>
    (request: Request, ctx: CallContext): Promise<Result> => {
      const signal = waiting.timeout === undefined ? AbortSignal.any([ctx.signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]) : ctx.signal;
      return noting(waiting, () => call(request, { ...ctx, signal }));
    };
  return {
    ...next,
    send: limited(next.send),
    get: limited(next.get),
    list: limited(next.list),
    cancel: limited(next.cancel),
    push: {
      create: limited(next.push.create),
      get: limited(next.push.get),
      list: limited(next.push.list),
      delete: limited(next.push.delete),
    },
    extendedCard: limited(next.extendedCard),
  };
}
