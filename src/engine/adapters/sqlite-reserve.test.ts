import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rowOf, seqOf } from '../../../test/contracts/rows.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { scratchFolder } from '../../../test/support/scratch.ts';
import type { Write } from '../ports.ts';
import { openSqliteStore } from './sqlite.ts';

const folder = scratchFolder();
const MIB = 2 ** 20;
const ballastBytes = 3 * MIB;

function task(key: number, text: string): Write {
  const { id, contextId } = rowOf(key);
  const event = { task: { id, contextId, status: { state: 'TASK_STATE_COMPLETED' }, metadata: { text } } } as const;
  return { kind: 'task', row: rowOf(key, { last: seqOf(1) }), isNew: true, entries: [{ seq: seqOf(1), event }] };
}

it('reserves little space for a full disk while the store is small, and all of it once the store has grown', async () => {
  const path = join(folder, 'tasks.db');
  const reserved = (): number => statSync(`${path}.ballast`, { throwIfNoEntry: false })?.size ?? 0;
  const store = openSqliteStore(path, { ballastBytes });
  await eventually(() => reserved() === MIB);
  await store.commit([task(1, 'small')]);
  await store.close();
  expect(reserved()).toBe(MIB);

  const again = openSqliteStore(path, { ballastBytes });
  await again.commit([task(2, 'x'.repeat(MIB))]);
  let key = 2;
  await eventually(async () => {
    key += 1;
    await again.commit([task(key, 'small')]);
    return reserved() === ballastBytes;
  });
  await again.close();

  const large = openSqliteStore(path, { ballastBytes });
  await large.close();
  expect(reserved()).toBe(ballastBytes);
  const less = openSqliteStore(path, { ballastBytes: 0 });
  await eventually(() => reserved() === 0);
  await less.close();
});
