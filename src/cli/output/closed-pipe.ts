import { labelled } from './errors.ts';

let onGone: (() => void) | undefined;
let isGone = false;

/** A closed pipe, as with `| head`, is not a failure. Output that can't be written is one: a file that is cut off must not look complete. */
export function watchReader(): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
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
}

/** Calls back once when the pipe is closed. The caller then exits by itself. */
export function whenReaderLeaves(leave: () => void): void {
  onGone = leave;
}
