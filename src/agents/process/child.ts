import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import { Readable } from 'node:stream';
import type { Environment } from './environment.ts';
import type { KillOptions } from './kill.ts';
import { killTree } from './kill.ts';
import type { Ledger } from './ledger.ts';
import { MARK } from './snapshot.ts';

export interface Launch {
  /** The program and its arguments, each by itself: there is no shell, so no text becomes a word of one. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** All of it: nothing is inherited. */
  readonly env: Environment;
}

/** How a program ended, before we say what that means. */
export type Exit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signaled'; readonly signal: NodeJS.Signals }
  /** It never ran: ENOENT, EACCES, E2BIG. */
  | { readonly kind: 'unstartable'; readonly code: string; readonly message: string };

export interface Child {
  readonly pid: number | undefined;
  /** Read as fast as its reader takes it: what is not read makes the program wait, not us grow. */
  readonly stdout: Readable;
  /** Never throws: a program that has closed its input does not want to hear. Resolves when there is room for more. */
  write(text: string): Promise<void>;
  /** No more input comes. */
  endInput(): void;
  readonly exit: Promise<Exit>;
  /** The end of what it wrote to standard error. */
  lastErrors(): string;
  /** Resolves when it has ended and nothing that it started is left. */
  readonly swept: Promise<void>;
  /** Ends it and everything it started, and reads no more. May be called more than once. */
  kill(options?: KillOptions): Promise<void>;
}

const ERROR_BYTES = 8192;
/** For what a program leaves running when it ends: no run outlives its task. */
const LEFTOVER_GRACE_MS = 500;

/** Starts a program in a session of its own, with the run's mark. The intent is on disk before. */
export function startChild({ argv, cwd, env }: Launch, ledger: Ledger): Child {
  const run = randomUUID();
  const mark = ledger.intend(run);
  const [file = '', ...args] = argv;
  let child: ChildProcessByStdio<Writable, Readable, Readable>;
  try {
    child = spawn(file, args, { cwd, env: { ...env, [MARK]: mark }, stdio: ['pipe', 'pipe', 'pipe'], detached: true, shell: false });
  } catch (thrown) {
    ledger.ended(run);
    return unstartable(thrown);
  }
  const { pid } = child;
  if (pid !== undefined) ledger.started(run, pid);
  const errors = tailOf(child.stderr);
  const exit = exitOf(child);
  child.stdin.on('error', () => undefined); // EPIPE: it has read all it wanted
  child.stdout.on('error', () => undefined);
  // Its pid may be given to another process once it has ended; what it left behind has its mark.
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const killAll = async (options?: KillOptions): Promise<void> => {
    await killTree({ pid: isOver() ? undefined : pid, mark }, options);
    ledger.ended(run);
  };
  const swept = exit.then(() => killAll({ graceMs: LEFTOVER_GRACE_MS })).catch(() => undefined);
  let killing: Promise<void> | undefined;
  const kill = async (options?: KillOptions): Promise<void> => {
    child.stdin.destroy();
    await killAll(options);
    await swept;
    child.stdout.destroy();
    child.stderr.destroy();
  };
  return {
    pid,
    stdout: child.stdout,
    write: (text) => written(child.stdin, text),
    endInput: () => child.stdin.end(),
    exit,
    swept,
    lastErrors: errors,
    kill: (options) => {
      killing ??= kill(options);
      return killing;
    },
  };
}

/** Some of what can go wrong is thrown (E2BIG, a NUL in an argument), the rest is an event: both are the same to others. */
function unstartable(thrown: unknown): Child {
  const { code = '', message } = thrown as NodeJS.ErrnoException;
  const nothing = async (): Promise<void> => {};
  return {
    pid: undefined,
    stdout: Readable.from([]),
    write: nothing,
    endInput: () => {},
    exit: Promise.resolve({ kind: 'unstartable', code, message }),
    swept: nothing(),
    lastErrors: () => '',
    kill: nothing,
  };
}

function exitOf(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) resolve({ kind: 'unstartable', code: error.code ?? '', message: error.message });
    });
    child.once('exit', (code, signal) => {
      resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'signaled', signal });
    });
  });
}

function written(stdin: Writable, text: string): Promise<void> {
  if (!stdin.writable) return Promise.resolve();
  return new Promise((resolve) => stdin.write(text, () => resolve()));
}

function tailOf(stream: Readable): () => string {
  let tail = Buffer.alloc(0);
  stream.on('error', () => undefined);
  stream.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]);
    if (tail.length > 2 * ERROR_BYTES) tail = Buffer.from(tail.subarray(-ERROR_BYTES));
  });
  return () => tail.subarray(-ERROR_BYTES).toString('utf8');
}
