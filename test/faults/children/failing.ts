import { writeSync } from 'node:fs';
import { openSqliteStore, StoreError } from '../../../src/engine/adapters/sqlite.ts';
import { ALICE, rowOf, seqOf } from '../../contracts/rows.ts';
import { entriesFor } from '../entries.ts';

/** Commits until the disk fails. Then it prints the result of each further call, and ends as a server would. */
const [path = ''] = process.argv.slice(2);
const store = openSqliteStore(path, { ballastBytes: 0, walBytes: 200_000 });
const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};
const outcomeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return 'done';
  } catch (thrown) {
    return thrown instanceof StoreError ? thrown.fault : String(thrown);
  }
};
const commit = (key: number): Promise<string> =>
  outcomeOf(() => store.commit([{ kind: 'task', row: rowOf(key, { last: seqOf(3) }), isNew: true, entries: entriesFor(key, 1, 3) }]));

let key = await store.lastKey();
for (let outcome = 'done'; outcome === 'done'; ) {
  key += 1;
  outcome = await commit(key);
  say(outcome === 'done' ? `a ${key}` : `x ${outcome}`);
  await new Promise(setImmediate);
}
say(`commit ${await commit(key)}`);
say(`commit ${await commit(key + 1)}`);
say(`read ${await outcomeOf(() => store.task(ALICE, rowOf(1).id))}`);
say(`list ${await outcomeOf(() => store.list({ owner: ALICE, limit: 1 }))}`);
process.exit(3);
