import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminStoreStats } from '#protocol';
import type { Log } from '../../observability/log.ts';
import { METRICS } from '../../observability/metric-table.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { NodeBackups } from './backups.ts';
import { backupProblem } from './backups.ts';
import type { BackupPlace, PlacedBackup } from './place.ts';
import { backupName, backupTime, isWhole } from './place.ts';

/** What a schedule needs. */
export interface ScheduleOptions {
  readonly place: BackupPlace;
  readonly everyMs: number;
  /** How many backups stay. */
  readonly keep: number;
  /** The id that names the backups of this node. */
  readonly store: string;
  readonly backups: NodeBackups;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Backups that a node makes by itself. */
export interface BackupSchedule {
  /** For `parley store stats`. */
  shown(): NonNullable<AdminStoreStats['backups']>;
  start(): void;
  /** Gives up a backup that runs. */
  stop(): Promise<void>;
}

const RETRY_MS_MIN = 60_000;
const RETRY_MS_MAX = 3_600_000;
const STOP_MS = 2000;

/**
 * Makes a backup when the newest one at the place is old enough, also after a restart. A failed one is tried again after a minute, then
 * after two, four … up to an hour, but never later than the next one is due.
 */
export function scheduleBackups({ place, everyMs, keep, store, backups, log, metrics }: ScheduleOptions): BackupSchedule {
  let [madeAt, failures]: [number | undefined, number] = [undefined, 0];
  let problem: string | undefined;
  const stopping = new AbortController();
  const { signal } = stopping;
  const count = metrics.counter(METRICS.backups);
  metrics.gauge(METRICS.backupLastSuccess, () => (madeAt ?? 0) / 1000);
  metrics.gauge(METRICS.backupInterval, () => everyMs / 1000);

  const waitMs = (): number => (failures > 0 ? Math.min(everyMs, retryMs(failures)) : untilDueMs(madeAt, everyMs));
  /** Its own backups, the oldest first. */
  const own = async (): Promise<readonly (PlacedBackup & { readonly at: number })[]> =>
    (await place.list())
      .flatMap((backup) => {
        const at = backupTime(store, backup.name);
        return at === undefined ? [] : [{ ...backup, at }];
      })
      .toSorted((a, b) => a.at - b.at);
  /** What is dated later than the newest was made under a wrong clock, or by hand. It stays, and takes no place of another. */
  const removeOld = async (newest: number): Promise<void> => {
    const whole = warnedOfDamage(await own(), place.shown, log).filter((backup) => isWhole(backup) && backup.at <= newest);
    for (const { name } of whole.slice(0, -keep)) {
      await place.remove(name);
      log.info('removed an old backup', { folder: `${place.shown}/${name}` });
    }
  };
  const makeOne = async (): Promise<void> => {
    // What an earlier process has not finished.
    for (const { name, isComplete } of await own()) if (!isComplete) await place.remove(name);
    const at = new Date();
    await backups.write(place, backupName(store, at), signal);
    [madeAt, failures, problem] = [at.getTime(), 0, undefined];
    count.add(['ok']);
    await removeOld(at.getTime()).catch((thrown: unknown) =>
      log.warn('old backups could not be removed', { to: place.shown, problem: backupProblem(thrown) }),
    );
  };
  const run = async (): Promise<void> => {
    madeAt = await own().then(
      (found) => found.findLast((backup) => isWhole(backup) && backup.at <= Date.now())?.at,
      () => undefined, // the backup that follows fails for the same reason
    );
    while (!signal.aborted) {
      await sleep(waitMs(), undefined, { signal, ref: false });
      await makeOne().catch((thrown: unknown) => {
        if (signal.aborted) return;
        failures += 1;
        problem = backupProblem(thrown);
        count.add(['failed']);
        log.warn('the scheduled backup failed', { to: place.shown, problem, againInSeconds: Math.ceil(waitMs() / 1000) });
      });
    }
  };
  let ended: Promise<void> | undefined;
  return {
    shown: () => ({
      ...{ to: place.shown, everyMs, keep },
      ...(madeAt === undefined ? {} : { lastAt: new Date(madeAt).toISOString() }),
      ...(problem === undefined ? {} : { problem }),
    }),
    start: () => {
      ended = run().catch(() => undefined); // stopped while it slept
    },
    stop: async () => {
      stopping.abort(new Error('the node stops'));
      await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })]);
    },
  };
}

function warnedOfDamage<T extends PlacedBackup>(backups: readonly T[], shown: string, log: Log): readonly T[] {
  for (const { name, problem } of backups)
    if (problem !== undefined) log.warn('a backup is damaged and does not count', { folder: `${shown}/${name}`, problem });
  return backups;
}

function retryMs(failures: number): number {
  return Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** (failures - 1));
}

/** At most the whole time, also if a clock was wrong. */
function untilDueMs(madeAt: number | undefined, everyMs: number): number {
  return madeAt === undefined ? 0 : Math.max(0, Math.min(everyMs, madeAt + everyMs - Date.now()));
}
