import type { CommandSpec } from './flags/spec.ts';

/** One command of the CLI. `run` returns the exit code and throws a CliError for failures. */
export interface Command {
  readonly name: string;
  /** The whole help text, ending in a newline. */
  readonly help: string;
  /** The flags that `completion` offers. Without it, completion reads the help text. */
  readonly spec?: CommandSpec;
  /** Subcommands by their last word: `task` has `get`, `cancel`, … */
  readonly below?: readonly Command[];
  run(args: readonly string[]): Promise<number>;
}

/** A row of the table in commands.ts. */
export interface Entry {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Loads the command's module only when it runs. */
  load(): Promise<Command>;
}

/** 1 failed, 2 wrong usage, 3 the agent can't be found or reached, 4 credentials, 5 timeout. */
export type ExitCode = 1 | 2 | 3 | 4 | 5;

/** Details of a `CliError`. */
export interface CliErrorOptions {
  /** What to type next. */
  readonly hint?: string | undefined;
  readonly exit?: ExitCode;
  /** One of the specification's eight codes, the name of a protocol error, or a code with the prefix PARLEY_ERR. */
  readonly code?: string;
  /** The code that the agent sent. */
  readonly a2aCode?: number | string | null;
  /** An unknown word and the known ones. The nearest is suggested. */
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

/** What the card does not declare is not asked for. That is a finding of ours, not an error of the protocol. */
export const NOT_DECLARED = 'PARLEY_ERR_NOT_DECLARED';

/** The error for a wrong command line, with exit code 2. */
export function usage(message: string, hint?: string): CliError {
  return new CliError(message, { hint, exit: 2 });
}

/** The whole standard input, as text. */
export async function readStdin(): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new CliError('standard input is not UTF-8');
  }
}
