import { setTimeout as delay } from 'node:timers/promises';
import type { CopyNote, CopyPlace, PostgresStore } from '../../engine/adapters/postgres.ts';
import { explained, openCopyPlace, openPostgresStore, placeOf } from '../../engine/adapters/postgres.ts';
import { ConfigError } from '../config/read-value.ts';
import { openSharedBlobs } from './shared-blobs.ts';
import type { Comparison } from './store-copy/compare.ts';
import { compareAll } from './store-copy/compare.ts';
import type { CopyCounts, CopyDamage, Copying } from './store-copy/copy.ts';
import { copyAll } from './store-copy/copy.ts';
import type { CopySource } from './store-copy/source.ts';

export { openCopySource } from './store-copy/source.ts';

/** What `copyStore` did. */
export interface CopyResult extends CopyCounts {
  /** Whether an earlier copy was continued. */
  readonly resumed: boolean;
  /** The tasks, log entries and records of sends that were compared on both sides. */
  readonly checked: Pick<Comparison, 'tasks' | 'entries' | 'sends'>;
  /** Tasks that are damaged in the source. */
  readonly damaged: readonly CopyDamage[];
}

/** Options of `copyStore`. */
export interface CopyOptions {
  /** Where large content goes. Undefined: to the database. */
  readonly blobs: string | undefined;
  readonly signal: AbortSignal;
  /** Called often, with what is done now and how far it is. */
  readonly onProgress: (phase: 'copy' | 'check', done: number, total: number) => void;
}

/** How others see this process in the table of replicas. */
const COPIER = 'parley store copy';
/** Short, because a copy that was killed holds the database until its lease ends. */
const LEASE_MS = 3000;

/**
 * Copies the data of a stopped node into a Postgres database that is empty, or has a part of the same copy. Compares both sides at the end.
 * Throws a ConfigError or a StoreError that says what to do; a later call continues.
 */
export async function copyStore(source: CopySource, url: string, options: CopyOptions): Promise<CopyResult> {
  const store = await openPostgresStore(url, { url: COPIER, leaseMs: LEASE_MS, share: 'all' });
  const place = await openCopyPlace(url);
  try {
    return await explained(url, async () => {
      const resumed = await begin(source, { store, place, url });
      return { ...(await copied(source, { store, place }, options)), resumed };
    });
  } finally {
    await place.close();
    await store.close();
  }
}

interface Opened {
  readonly store: PostgresStore;
  readonly place: CopyPlace;
}

/** Refuses a database that has something else. Returns whether a copy is continued. */
async function begin(source: CopySource, { store, place, url }: Opened & { readonly url: string }): Promise<boolean> {
  const note = await place.note();
  const tasks = await store.count({ owner: 'any' });
  const where = placeOf(url);
  if (note !== undefined && note.source !== source.id)
    throw new ConfigError(
      `the database at ${where} has ${note.state === 'done' ? 'a' : 'an unfinished'} copy of another node; use an empty one`,
    );
  if (note?.state === 'done')
    throw new ConfigError(`${source.folder} was copied to ${where} already, at ${note.at}; start nodes with --store. Nothing was changed`);
  if (note === undefined && tasks > 0)
    throw new ConfigError(`the database at ${where} has ${tasks === 1 ? '1 task' : `${tasks} tasks`} already; use an empty one`);
  await refuseOthers(store, where);
  await place.write({ source: source.id, state: 'running', at: new Date().toISOString() });
  try {
    // A node that has started meanwhile has not seen the note.
    await refuseOthers(store, where);
  } catch (thrown) {
    await place.write(note);
    throw thrown;
  }
  return note !== undefined;
}

/** A copy that was killed is listed until its lease ends. */
async function refuseOthers(store: PostgresStore, where: string): Promise<void> {
  for (;;) {
    const others = (await store.replicas()).filter(({ cells }) => cells === 0);
    const node = others.find(({ url }) => url !== COPIER);
    if (node !== undefined)
      throw new ConfigError(`the node ${node.url} uses the database at ${where}; stop all nodes on it, and start them after the copy`);
    if (others.length === 0) return;
    await delay(100);
  }
}

async function copied(
  source: CopySource,
  { store, place }: Opened,
  { blobs: to, signal, onProgress }: CopyOptions,
): Promise<Omit<CopyResult, 'resumed'>> {
  const blobs = await openSharedBlobs(to, store);
  const total = source.scan.count();
  const newest = await place.newest();
  const before = Math.max(0, (await store.count({ owner: 'any' })) - 1);
  const counts: CopyCounts = { tasks: before, entries: 0, blobs: 0, pushConfigs: 0, queues: 0, sends: 0, names: 0 };
  const copying: Copying = {
    ...{ source, target: { store, blobs }, counts, damage: new Map(), leftOut: new Set(), signal },
    onProgress: () => onProgress('copy', counts.tasks, total),
  };
  // Outbox rows may have numbers of the same sequence.
  await place.reserveAfter(Math.max(source.scan.lastKey(), (await source.outboxStats()).last));
  if (source.keys !== undefined) await place.putSecret('node-keys', source.keys);
  await copyAll(copying, newest);
  const { differences, ...checked } = await compareAll(copying, (done) => onProgress('check', done, total));
  if (differences.length > 0)
    throw new ConfigError(`the copy differs from ${source.folder}: ${differences.join('; ')}. Run the command again on an empty database`);
  const done: CopyNote = { source: source.id, state: 'done', at: new Date().toISOString() };
  await place.write(done);
  const damaged = [...copying.damage.values(), ...source.damaged().map(({ key, id = `number ${key}`, why }) => ({ task: id, why }))];
  return { ...counts, checked, damaged: uniqueBy(damaged) };
}

function uniqueBy(damaged: readonly CopyDamage[]): readonly CopyDamage[] {
  return [...new Map(damaged.map((each) => [each.task, each])).values()];
}
