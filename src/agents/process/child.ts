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

/** How to start a program. */
export interface Launch {
  /** The program and its arguments as a list. There is no shell, so no text is split into words. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The complete environment; nothing is inherited. */
  readonly env: Environment;
}

/** How a program ended, uninterpreted. */
export type Exit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signaled'; readonly signal: NodeJS.Signals }
  /** It could not be started: ENOENT, EACCES, E2BIG. */
  | { readonly kind: 'unstartable'; readonly code: string; readonly message: string };

/** A running program. */
export interface Child {
  readonly pid: number | undefined;
  /**
   * Read only as fast as the consumer reads: unread output makes the program wait instead of growing
   * our memory.
   */
  readonly stdout: Readable;
  /** Never throws, even if the program has closed its input. Resolves when there is room for more. */
  write(text: string): Promise<void>;
  /** Closes standard input. */
  endInput(): void;
  readonly exit: Promise<Exit>;
  /** The last part of its standard error. */
  lastErrors(): string;
  /** Resolves when it and everything that it started have ended. */
  readonly swept: Promise<void>;
  /** Kills it and everything it started, and stops reading. May be called more than once. */
  kill(options?: KillOptions): Promise<void>;
}

/** How much of standard error is kept: its end. */
const ERROR_BYTES = 8192;
/** For processes that a program leaves behind when it ends: no process outlives its run. */
const LEFTOVER_GRACE_MS = 500;

/** Starts a program in its own session, with the run's mark. The record is on disk before. */
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
  child.stdin.on('error', () => undefined); // EPIPE: the program has closed its input
  child.stdout.on('error', () => undefined);
  // After it has ended, its pid may be reused. The processes that it left behind have its mark.
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

/**
 * Some errors are thrown (E2BIG, a NUL in an argument), others are events. Callers see both in the same
 * way.
 */
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

/** How the process ended. An error event without a process id means that it could not be started. */
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

/** Keeps the last bytes of a stream in bounded memory. */
function tailOf(stream: Readable): () => string {
  let tail = Buffer.alloc(0);
  stream.on('error', () => undefined);
  stream.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]);
    if (tail.length > 2 * ERROR_BYTES) tail = Buffer.from(tail.subarray(-ERROR_BYTES));
  });
  return () => tail.subarray(-ERROR_BYTES).toString('utf8');
}
