let onGone: (() => void) | undefined;
let isGone = false;

/** A closed pipe, as with `| head`, is not a failure. */
export function watchReader(): void {
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') process.exit(1);
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
