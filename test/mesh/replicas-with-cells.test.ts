import { afterEach, describe, expect, it } from 'vitest';
import { cluster } from '../support/cells.ts';
import { countingIds } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import type { SamClient } from './sam-client.ts';
import { closeSamClients, propertiesTo, realRequest, samClient } from './sam-client.ts';
import { serveOn, TEST_BROKERS } from './support.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await closeSamClients();
});

/** Two replicas that share a store and the request topics of their agents. */
async function replicas(): Promise<SamClient> {
  const shared = cluster();
  const [one, two] = [shared.join([0, 1, 2, 3]), shared.join([4, 5, 6, 7])];
  const ground = await TEST_BROKERS[0]?.start();
  if (ground === undefined) throw new Error('there is no broker');
  const client = await samClient(async () => ground, { store: one.store, ids: countingIds('one') });
  const second = await serveOn(await ground.connect(), ['script', 'echo'], { store: two.store, ids: countingIds('two') });
  closing.push(() => second.close());
  return client;
}

const NAMES = Array.from({ length: 12 }, (_, n) => `task-${n}`);

describe('replicas on a broker that share a store with cells', () => {
  it('make and answer each task once, whichever of them gets the message', async () => {
    const { ask, on, served } = await replicas();
    await Promise.all(NAMES.map((name) => ask(realRequest(name, 'chunks=1', { contextId: `of ${name}` }), propertiesTo(name), 'script')));
    for (const name of NAMES) {
      await eventually(() => expect(on(`gateway/response/gw_123/${name}`).length).toBe(1));
      expect(on(`gateway/response/gw_123/${name}`)[0]?.body).toMatchObject({ result: { id: name, status: { state: 'completed' } } });
    }
    expect((await served.engine.admin.tasks({})).totalSize).toBe(NAMES.length);
  });

  it('cancel tasks of one another', async () => {
    const { ask, on } = await replicas();
    for (const name of NAMES) await ask(realRequest(name, 'sleep=60000', { contextId: `of ${name}` }), propertiesTo(name), 'script');
    for (const name of NAMES) await eventually(() => expect(on(`gateway/status/gw_123/${name}`).length).toBe(1));
    for (const name of NAMES) {
      const cancel = { jsonrpc: '2.0', id: `cancel ${name}`, method: 'tasks/cancel', params: { id: name } };
      await ask(cancel, { clientId: 'gw_123', userId: 'ann' }, 'script');
    }
    for (const name of NAMES) {
      const last = (): unknown => on(`gateway/response/gw_123/${name}`).at(-1)?.body.result?.status?.state;
      await eventually(() => expect(last()).toBe('canceled'));
    }
  });
});
