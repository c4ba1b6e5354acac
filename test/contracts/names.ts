import { expect } from 'vitest';
import type { ConversationNames, Store } from '#engine';
import { contextId } from '#protocol';
import type { Check } from './check.ts';
import { ALICE, aTask } from './rows.ts';

export function namesIn(store: Store): ConversationNames {
  if (store.names === undefined) throw new Error('the store keeps no names');
  return store.names;
}

const ANN = { tenant: 'acme', principal: 'ann' };

/** Names of conversations: by owner and context, whatever they contain. */
export function namesContract(check: Check): void {
  check('keeps the names of conversations by owner and context', async (store) => {
    const names = namesIn(store);
    const [one, two] = [contextId('one'), contextId(`two\0${'x'.repeat(500)}`)];
    await names.put({ owner: ALICE, contextId: one, name: 'Alice’s \ud800 one\0' });
    await names.put({ owner: ALICE, contextId: two, name: 'two' });
    await names.put({ owner: ANN, contextId: one, name: 'Ann’s one' });
    expect(await names.of([])).toEqual([]);
    expect(
      await names.of([
        { owner: ALICE, contextId: one },
        { owner: ANN, contextId: two },
      ]),
    ).toEqual([{ owner: ALICE, contextId: one, name: 'Alice’s \ud800 one\0' }]);
    const found = async (scope: Parameters<typeof names.within>[0]): Promise<readonly string[]> =>
      (await names.within(scope)).map(({ name }) => name).sort();
    expect(await found('any')).toEqual(['Alice’s \ud800 one\0', 'Ann’s one', 'two']);
    expect(await found(ALICE)).toEqual(['Alice’s \ud800 one\0', 'two']);
    expect(await found({ tenant: 'acme' })).toEqual(['Ann’s one']);
  });

  check('replaces and deletes a name, beside commits', async (store) => {
    const names = namesIn(store);
    const named = { owner: ALICE, contextId: contextId('c') };
    await names.put({ ...named, name: 'first' });
    await store.commit([aTask(1, {}, 1)]);
    await names.put({ ...named, name: 'second' });
    expect(await names.of([named])).toEqual([{ ...named, name: 'second' }]);
    await store.commit([aTask(2, {}, 1)]);
    await names.put({ ...named, name: '' });
    expect(await names.of([named])).toEqual([]);
    await names.put({ ...named, name: '' });
    expect(await names.within('any')).toEqual([]);
  });
}
