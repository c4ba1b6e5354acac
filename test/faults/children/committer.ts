import { writeSync } from 'node:fs';
import type { TaskRow, Write } from '#engine';
import { openSqliteStore } from '../../../src/engine/adapters/sqlite.ts';
import { aSend, rowOf, seqOf } from '../../contracts/rows.ts';
import { entriesFor } from '../entries.ts';

/**
 * Commits until it is killed. It prints `b` before a commit, and `a` with the content after it. With `lie` it prints `a` too early,
 * which the test must detect. With `count` it kills itself after that many commits, so the files are as after a crash. With `warm` it
 * only loads its modules.
 */
const [path = '', how = 'honest', count = '0'] = process.argv.slice(2);
if (how === 'warm') process.exit(0);
// Small, so that kills hit checkpoints too; large for tests of the WAL itself.
const store = openSqliteStore(path, { ballastBytes: 0, walBytes: count === '0' ? 300_000 : 16_000_000, walBytesMax: 64_000_000 });
const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};

const rows = new Map<number, TaskRow>();
for (const row of await store.unfinished()) rows.set(row.key, row);
let lastKey = await store.lastKey();
const random = (below: number): number => Math.floor(Math.random() * below);

say('ready');
for (let commit = 1; ; commit += 1) {
  const batch = nextBatch();
  const held = batch.flatMap((write) => (write.kind === 'task' ? [`${write.row.key}:${write.row.last}`] : [])).join(' ');
  say('b');
  if (how === 'lie') say(`a ${held}`);
  await store.commit(batch);
  if (how !== 'lie') say(`a ${held}`);
  for (const write of batch) if (write.kind === 'task') rows.set(write.row.key, write.row);
  if (commit === Number(count)) process.kill(process.pid, 'SIGKILL');
}

/** A batch of tasks: some continue, some are new, some end. */
function nextBatch(): readonly Write[] {
  const batch = new Map<number, readonly Write[]>();
  for (let at = random(6); at >= 0; at -= 1) {
    const known = [...rows.values()];
    const going = random(3) > 0 ? known[random(known.length)] : undefined;
    if (going !== undefined && !batch.has(going.key)) batch.set(going.key, [goOn(going)]);
    else if (going === undefined) {
      lastKey += 1;
      batch.set(lastKey, [create(lastKey), aSend(lastKey)]);
    }
  }
  return [...batch.values()].flat();
}

function create(key: number): Write {
  const last = 1 + random(4);
  return { kind: 'task', row: rowOf(key, { last: seqOf(last), statusAt: key }), isNew: true, entries: entriesFor(key, 1, last) };
}

function goOn(row: TaskRow): Write {
  const last = row.last + random(5);
  const isEnd = random(10) === 0;
  if (isEnd) rows.delete(row.key);
  const state = isEnd ? 'TASK_STATE_COMPLETED' : row.state;
  return { kind: 'task', row: { ...row, state, last: seqOf(last) }, isNew: false, entries: entriesFor(row.key, row.last + 1, last) };
}
