import { setTimeout as sleep } from 'node:timers/promises';
import type { Log, Settings } from '#server';
import type { ConfiguredServer } from '../../server/adapters/serve-configured.ts';

/** A terminal sends Ctrl-C to all of its processes, and parents pass it on. A second signal within this time is the same one. */
const SAME_SIGNAL_MS = 1000;

/** The signals that end a node. */
export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Resolves on the first SIGINT or SIGTERM, and on SIGHUP when the terminal is closed. A later one exits at once. */
export function untilSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    let signalledAt: number | undefined;
    for (const signal of isOnTerminal() ? (['SIGINT', 'SIGTERM', 'SIGHUP'] as const) : (['SIGINT', 'SIGTERM'] as const)) {
      process.on(signal, () => {
        if (signalledAt !== undefined && performance.now() - signalledAt > SAME_SIGNAL_MS) process.exit(1);
        signalledAt ??= performance.now();
        resolve(signal);
      });
    }
  });
}

/** A closed terminal sends SIGHUP to what was started in it. */
function isOnTerminal(): boolean {
  return process.stdin.isTTY === true || process.stdout.isTTY === true;
}

/** SIGTERM comes from a supervisor, with load balancers in front: the node still serves while they notice that it leaves. */
export async function lameDuck(signal: StopSignal | number, { handler }: ConfiguredServer, ms: number): Promise<void> {
  if (signal !== 'SIGTERM' || ms === 0) return;
  handler.leave();
  await sleep(ms);
}

/** What a reload needs. */
export interface ReloadSources {
  readonly served: Pick<ConfiguredServer, 'reload'>;
  readonly log: Log;
  /** Reads the settings again. Rejects if they are wrong. */
  readonly read: () => Promise<Settings>;
  /** Called with the new settings, after the node has them. */
  readonly onApplied: (settings: Settings) => void;
}

/** SIGHUP reads the configuration, certificates and API keys again. With a mistake in them the node continues with the old ones. */
export function reloadOnHangUp({ served, log, read, onApplied }: ReloadSources): void {
  if (isOnTerminal()) return;
  let reloading: Promise<void> = Promise.resolve();
  const reload = async (): Promise<void> => {
    try {
      const settings = await read();
      const { applied, needRestart, certificateChanged } = served.reload(settings);
      onApplied(settings);
      log.info('the configuration was reloaded', { applied: [...applied], certificate: certificateChanged ? 'changed' : 'same' });
      if (needRestart.length > 0) log.warn('these settings have changed and need a restart', { settings: [...needRestart] });
    } catch (thrown) {
      log.error('the configuration could not be reloaded; the node continues with the old one', thrown);
    }
  };
  process.on('SIGHUP', () => {
    reloading = reloading.then(reload);
  });
}
