import type { CommandSpec } from './flags/spec.ts';

/** One command of the CLI. `run` returns the exit code; what goes wrong is thrown as a CliError. */
export interface Command {
  readonly name: string;
  /** The whole help text, ending in a newline. */
  readonly help: string;
  /** What `completion` offers; without it, the flags that the help names. */
  readonly spec?: CommandSpec;
  /** Commands below this one, by their last word: `task` has `get`, `cancel`, … */
  readonly below?: readonly Command[];
  /** Part of the published A2A CLI contract: errors have its form (docs/cli.md, "Errors"). */
  readonly contract?: true;
  run(args: readonly string[]): Promise<number>;
}

/** A row of the command table in main.ts. */
export interface Entry {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Loaded when it is wanted: a command costs nothing to those who run another. */
  load(): Promise<Command>;
}

/** 1 failed, 2 wrong call, 3 the agent can't be found or reached, 4 credentials, 5 out of time. */
export type ExitCode = 1 | 2 | 3 | 4 | 5;

export interface CliErrorOptions {
  /** What to type next. */
  readonly hint?: string | undefined;
  readonly exit?: ExitCode;
  /** One of the contract's eight, a protocol error's name, or ours with PARLEY_ERR_. */
  readonly code?: string;
  /** The code that the agent sent. */
  readonly a2aCode?: number | string | null;
  /** A word that nobody knows, and those that somebody does: the nearest is suggested. */
  readonly meant?: { readonly word: string; readonly known: readonly string[] };
  readonly cause?: unknown;
}

/** What happened, what to type next, and the exit code. */
export class CliError extends Error {
  readonly hint: string | undefined;
  readonly exit: ExitCode;
  readonly code: string;
  readonly a2aCode: number | string | null;
  readonly meant: CliErrorOptions['meant'];

  constructor(message: string, options: CliErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint;
    this.exit = options.exit ?? 1;
    this.code = options.code ?? (this.exit === 2 ? 'A2ACLI_ERR_USAGE' : 'A2ACLI_ERR_INTERNAL');
    this.a2aCode = options.a2aCode ?? null;
    this.meant = options.meant;
  }
}

export function usage(message: string, hint?: string): CliError {
  return new CliError(message, { hint, exit: 2 });
}

export async function readStdin(): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new CliError('standard input is not UTF-8');
  }
}
