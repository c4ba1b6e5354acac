import { labelled } from './errors.ts';

let onGone: (() => void) | undefined;
let isGone = false;
let isOutlived = false;

/**
 * A closed pipe, as with `| head`, is not a failure. Output that can't be written is one: a file that is cut off must not look complete. Notes
 * on standard error are lost without their reader, and the work continues.
 */
export function watchReader(): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (isOutlived) return;
    if (code !== 'EPIPE') {
      const why = code === 'ENOSPC' ? `its disk is full (${code})` : message;
      process.stderr.write(
        labelled({ message: `the output could not be written: ${why}`, code: 'A2ACLI_ERR_INTERNAL', hint: null, a2aCode: null }),
      );
      process.exit(1);
    }
    if (onGone === undefined) process.exit(0);
    if (isGone) return; // each further write fails as well
    isGone = true;
    onGone();
  });
  process.stderr.on('error', () => undefined);
}

/** Calls back once when the pipe is closed. The caller then exits by itself. */
export function whenReaderLeaves(leave: () => void): void {
  onGone = leave;
}

/** From now on the process continues without the reader of its standard output: its work is to serve, not to print. */
export function outliveReader(): void {
  isOutlived = true;
}

/** Writes log lines to standard error. */
export interface ErrorLines {
  readonly write: (line: string) => void;
  /** How many lines could not be written, because the reader has ended or the disk is full. */
  readonly lost: () => number;
}

/** Starts to count with 0. */
export function countErrorLines(): ErrorLines {
  let lost = 0;
  const written = (error?: Error | null): void => {
    if (error !== undefined && error !== null) lost += 1;
  };
  return { write: (line) => void process.stderr.write(line, written), lost: () => lost };
}
