/** One command of the CLI. `run` returns the exit code; what goes wrong is thrown as a CliError. */
export interface Command {
  readonly name: string;
  /** The whole help text, ending in a newline. */
  readonly help: string;
  run(args: readonly string[]): Promise<number>;
}

/** What happened, what to type next, and the exit code: 1 for a failure, 2 for a wrong call. */
export class CliError extends Error {
  readonly hint: string | undefined;
  readonly exit: number;

  constructor(message: string, options: { readonly hint?: string; readonly exit?: 1 | 2 } = {}) {
    super(message);
    this.hint = options.hint;
    this.exit = options.exit ?? 1;
  }
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
