import type { SendHandle } from '#client';
import { whenReaderLeaves } from '../output/closed-pipe.ts';
import type { Screen } from './terminal.ts';

/** Whether the command was interrupted, and how it should exit. */
export interface Interrupt {
  readonly fired: boolean;
  /** The exit code after an interrupt. */
  readonly code: number;
  fire(): void;
  end(): void;
}

/** 128 plus the signal number, as in shells. A closed pipe is not a failure. */
const CODES = { SIGINT: 130, SIGTERM: 143, reader: 0 } as const;
/** How long to wait for an agent that does not react to the cancellation. */
const LEAVE_MS = 1000;

/** Ctrl-C cancels the task; a second one exits at once. SIGTERM and a closed pipe cancel and then exit. */
export function onInterrupt(screen: Screen, current: () => SendHandle | undefined): Interrupt {
  let fired: keyof typeof CODES | undefined;
  const by = (cause: keyof typeof CODES): void => {
    const code = CODES[cause];
    if (fired !== undefined) process.exit(code);
    fired = cause;
    const handle = current();
    if (handle === undefined) process.exit(code);
    screen.note(cause === 'SIGINT' ? 'canceling; once more leaves at once' : 'canceling', 'dim');
    handle.cancel().then(
      () => {
        if (cause !== 'SIGINT') setTimeout(() => process.exit(code), LEAVE_MS).unref();
      },
      () => process.exit(code),
    );
  };
  const fire = (): void => by('SIGINT');
  const terminate = (): void => by('SIGTERM');
  process.on('SIGINT', fire).on('SIGTERM', terminate);
  whenReaderLeaves(() => by('reader'));
  return {
    get fired() {
      return fired !== undefined;
    },
    get code() {
      return CODES[fired ?? 'SIGINT'];
    },
    fire,
    end: () => void process.off('SIGINT', fire).off('SIGTERM', terminate),
  };
}
