let onGone: (() => void) | undefined;
let isGone = false;

/** A reader that has seen enough (`| head`) is no failure of ours. */
export function watchReader(): void {
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') process.exit(1);
    if (onGone === undefined) process.exit(0);
    if (isGone) return; // each further write fails as well
    isGone = true;
    onGone();
  });
}

/** Whoever has something to end first is told that nobody reads any more, once, and leaves by itself. */
export function whenReaderLeaves(leave: () => void): void {
  onGone = leave;
}
