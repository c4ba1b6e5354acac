import { closeSync, openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into the server by `--import`. The first SIGUSR2 starts measuring the delay of the event loop; the second prints the result.
 * Time in which the thread waited for a core does not count; Linux reports it separately.
 */
const EVERY_MS = 1;

interface Look {
  readonly at: number;
  /** Milliseconds that the thread has waited for a core since its start. */
  readonly waited: number;
}

if (isMainThread) {
  const file = openSync('/proc/self/schedstat', 'r');
  const buffer = Buffer.alloc(100);
  const look = (): Look => {
    const [, waited = '0'] = buffer.toString('latin1', 0, readSync(file, buffer, 0, 100, 0)).split(' ');
    return { at: performance.now(), waited: Number(waited) / 1e6 };
  };
  let [own, all]: [number[], number[]] = [[], []];
  let last = look();
  let timer: ReturnType<typeof setInterval> | undefined;
  const note = (): void => {
    const now = look();
    const late = now.at - last.at - EVERY_MS;
    all.push(late);
    own.push(Math.max(0, late - (now.waited - last.waited)));
    last = now;
  };
  process.on('SIGUSR2', () => {
    if (timer === undefined) {
      last = look();
      timer = setInterval(note, EVERY_MS);
      return;
    }
    clearInterval(timer);
    const at = (list: number[], share: number): number =>
      Math.round((list.sort((a, b) => a - b)[Math.floor((list.length - 1) * share)] ?? 0) * 10) / 10;
    process.stdout.write(
      `loop ${JSON.stringify({ p50: at(own, 0.5), p99: at(own, 0.99), max: at(own, 1), wall: at(all, 0.99), looks: own.length })}\n`,
    );
    [own, all] = [[], []];
    closeSync(file);
  });
}
