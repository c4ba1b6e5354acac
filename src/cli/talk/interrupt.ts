import type { SendHandle } from '#client';
import type { Screen } from './screen.ts';

export interface Interrupt {
  readonly fired: boolean;
  fire(): void;
  end(): void;
}

/** Ctrl-C cancels what runs; a second one leaves at once. */
export function onInterrupt(screen: Screen, current: () => SendHandle | undefined): Interrupt {
  let fired = false;
  const fire = (): void => {
    if (fired) process.exit(130);
    fired = true;
    screen.note('canceling; once more leaves at once', 'dim');
    const handle = current();
    if (handle === undefined) process.exit(130);
    handle.cancel().catch(() => process.exit(130));
  };
  process.on('SIGINT', fire);
  return {
    get fired() {
      return fired;
    },
    fire,
    end: () => void process.off('SIGINT', fire),
  };
}
