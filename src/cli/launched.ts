/** A terminal sends Ctrl-C to bin/parley and to this process, and bin/parley passes it on after 200 ms. Within this time it is the same one. */
const SAME_SIGNAL_MS = 1000;

/**
 * Ends with bin/parley, which has started this process in a checkout: a kill -9 of it does not reach this process by itself. Takes Ctrl-C from
 * it, for those who send that signal to bin/parley alone.
 */
export function followLauncher(): void {
  delete process.env['PARLEY_LAUNCHED']; // agents that run programs hand their environment on
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  const hasArrived = noteInterrupts();
  process.on('message', (message) => {
    if (message === 'SIGINT' && !hasArrived() && !process.emit('SIGINT')) process.kill(process.pid, 'SIGINT');
  });
  process.channel?.unref();
}

/** Returns a function that says whether Ctrl-C has just reached this process. Listens only beside others: a process with a listener ignores Ctrl-C. */
function noteInterrupts(): () => boolean {
  let at = Number.NEGATIVE_INFINITY;
  const note = (): void => {
    at = performance.now();
  };
  process.on('newListener', (name, listener) => {
    if (name === 'SIGINT' && listener !== note && !process.listeners('SIGINT').includes(note)) process.on('SIGINT', note);
  });
  process.on('removeListener', (name) => {
    if (name === 'SIGINT' && process.listeners('SIGINT').every((other) => other === note)) process.off('SIGINT', note);
  });
  return () => performance.now() - at < SAME_SIGNAL_MS;
}
