import { expect, it } from 'vitest';
import { ElsewhereError } from '#engine';
import type { A2AService, CallContext, Requests } from '#protocol';
import type { ReplicaRow } from '../../../engine/adapters/postgres.ts';
import { routeCalls } from './routed.ts';

const OWNER: ReplicaRow = {
  ...{ replica: 2, url: 'http://127.0.0.1:4002', link: '127.0.0.1:9', publicKey: 'two', started: '2026-11-19T10:00:00.000Z' },
  ...{ leaseMs: 9000, isLeaving: false, cells: 1, owned: [2] },
};

/** Sends a message that belongs to cell 2. No link can be opened. */
async function sendTo(owner: ReplicaRow | undefined) {
  const counted: string[] = [];
  const refused = async () => Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:9'));
  const here = { send: async () => Promise.reject(new ElsewhereError(2)) } as unknown as A2AService;
  const service = routeCalls(here, 'shout', {
    ...{
      ownership: { owner: () => owner, refresh: async () => {} },
      links: { request: refused, connect: refused, keepOnly: () => {}, close: () => {} },
      sends: { send: refused },
    },
    ...{ reports: { add: () => {}, headers: () => ({}), take: () => [] }, want: async () => {}, holdMs: 0, repeats: undefined },
    onForwarded: (outcome) => void counted.push(outcome),
  });
  const ctx = { signal: new AbortController().signal, onElsewhere: () => {} } as unknown as CallContext;
  const refusal = await service.send({} as Requests['send'], ctx).catch((thrown: unknown) => thrown);
  return { refusal, counted };
}

it('says that the owner can not be reached, and counts the send', async () => {
  const { refusal, counted } = await sendTo(OWNER);
  expect(refusal).toMatchObject({
    kind: 'UNAVAILABLE',
    message: "the node that owns this conversation can't be reached from this one now; try again",
  });
  expect(counted).toEqual(['no_owner']);
});

it('says that nobody owns the cell, and counts the send', async () => {
  const { refusal, counted } = await sendTo(undefined);
  expect(refusal).toMatchObject({ kind: 'UNAVAILABLE', message: 'no node serves the tasks of this database now; try again' });
  expect(counted).toEqual(['no_owner']);
});
