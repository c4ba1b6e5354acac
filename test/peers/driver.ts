import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Reply, Say, Talk } from './talk.ts';
import { PeerError } from './talk.ts';

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export interface DriverOptions extends Pick<Talk, 'losesFileNames'> {
  readonly hasList: boolean;
  readonly env?: NodeJS.ProcessEnv;
  /** The program reads it from PEER_TOKEN. */
  readonly credential?: string | undefined;
}

/** The calls that the clients of SDKs have beside those of every peer. */
export interface SdkTalk extends Talk {
  /** Subscribes to a task and resolves with its first event that has text, without reading on. */
  subscribe(taskId: string): Promise<Reply>;
  /** Asks for notifications about a task at an address. */
  push(taskId: string, url: string): Promise<void>;
}

/**
 * A peer's own client in a program of its own language. The program reads one JSON command a line from standard input and writes one
 * JSON result a line: `{"result": …}` or `{"error": {"message", "code"}}`. `list` is left out where the version has none.
 */
export function driverTalk(command: readonly string[], options: DriverOptions): SdkTalk {
  const [program = '', ...args] = command;
  const credential = options.credential === undefined ? {} : { PEER_TOKEN: options.credential };
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...options.env, ...credential } });
  const waiting: Waiting[] = [];
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4000);
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  void ended.then(() => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`the peer's program ended: ${errors}`));
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('{')) return;
    const { result, error } = JSON.parse(line) as { result?: unknown; error?: { message: string; code?: number } };
    const next = waiting.shift();
    if (error === undefined) next?.resolve(result);
    else next?.reject(new PeerError(error.message, error.code));
  });
  const call = <T>(op: string, say: object): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ resolve: resolve as (value: unknown) => void, reject });
      child.stdin.write(`${JSON.stringify({ op, ...say })}\n`);
    });
  return {
    joinsText: true,
    ...(options.losesFileNames === undefined ? {} : { losesFileNames: options.losesFileNames }),
    send: (say: Say) => call<Reply>('send', say),
    stream: (say: Say) => call<readonly Reply[]>('stream', say),
    begin: (say: Say) => call<Reply>('begin', say),
    get: (taskId) => call<Reply>('get', { taskId }),
    cancel: (taskId) => call<Reply>('cancel', { taskId }),
    subscribe: (taskId) => call<Reply>('subscribe', { taskId }),
    push: (taskId, url) => call<void>('push', { taskId, url }),
    ...(options.hasList ? { list: (contextId?: string) => call<readonly string[]>('list', { contextId }) } : {}),
    close: async () => {
      child.stdin.end();
      child.kill();
      await ended;
    },
  };
}
