import type { StoreLease } from '../lease.ts';
import type { TurnParts } from './parts.ts';
import { recover } from './recovery.ts';
import { letGo } from './stop.ts';

const RETRY_MS = 1000;

/**
 * Stops all runs when the lease of the store is lost: another process may take over and start them again. Once the lease is held again,
 * interrupted turns are repeated or failed as after a restart. What waits to be saved is kept meanwhile; the store refuses it if another
 * process took over. Returns a function to call when the engine is open: the lease may have been lost before.
 */
export function followLease(parts: TurnParts, lease: StoreLease): () => void {
  const { lifecycle, commits, timers, report } = parts;
  let isHeld = true;
  let losses = 0;
  let isRecovering = false;
  const isCutOff = (): boolean => lifecycle.phase === 'cut off';
  const lost = (): void => {
    isHeld = false;
    losses += 1;
    if (lifecycle.phase !== 'open' && !isCutOff()) return;
    if (!isCutOff())
      report('the lease of the store was not renewed in time: all runs are stopped', new Error('the database can’t be reached'));
    lifecycle.phase = 'cut off';
    for (const [run, task] of parts.runs) if (task.run === run) letGo(parts, task);
    // A store that another process has taken over refuses this commit for good, and the engine breaks.
    commits.settled('run').catch(() => {});
  };
  const startAgain = async (): Promise<void> => {
    if (isRecovering) return;
    isRecovering = true;
    try {
      while (isHeld && isCutOff()) {
        const before = losses;
        // What runs wrote before they were stopped decides how they continue.
        await commits.settled('run');
        if (!isCutOff()) return;
        await recover(parts, { after: 'cut off' });
        if (isHeld && isCutOff() && before === losses) lifecycle.phase = 'open';
      }
    } catch (thrown) {
      if (commits.broken !== undefined) return;
      report('interrupted tasks are not continued yet', thrown);
      timers.later(RETRY_MS, () => void startAgain());
    } finally {
      isRecovering = false;
    }
  };
  lease.follow({
    lost,
    regained: () => {
      isHeld = true;
      void startAgain();
    },
  });
  return () => {
    if (!isHeld) lost();
  };
}
