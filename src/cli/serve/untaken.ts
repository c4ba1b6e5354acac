import type { ChildProcess, SendHandle, Serializable } from 'node:child_process';

/** What Node's cluster tells a worker and hears from it. */
interface ClusterMessage {
  readonly cmd?: unknown;
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
}

/**
 * Closes connections that the worker got from the parent process and had not taken when it ended. Node's cluster waits for its reply and keeps them
 * open for ever, so their callers would get neither an answer nor an end.
 */
export function closeUntaken(worker: ChildProcess): void {
  const given = new Map<unknown, SendHandle>();
  const send: (...args: never[]) => boolean = worker.send.bind(worker);
  Object.assign(worker, {
    send: (message: Serializable & ClusterMessage, handle: SendHandle | undefined, ...more: unknown[]): boolean => {
      if (handle !== undefined && message.cmd === 'NODE_CLUSTER' && message.act === 'newconn') given.set(message.seq, handle);
      return Reflect.apply(send, worker, [message, handle, ...more]);
    },
  });
  worker.on('internalMessage', ({ ack }: ClusterMessage) => void given.delete(ack));
  worker.once('exit', () => {
    for (const handle of given.values()) if (handle !== undefined && 'close' in handle) handle.close();
    given.clear();
  });
}
