import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createCard } from '#agents';
import type { PeerChange } from '#mesh';
import { openGatewayState } from './gateway-state.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-state-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const card = createCard({ name: 'echo', description: 'Says it again.' });
const change = (kind: PeerChange['kind'], name: string): PeerChange => ({
  kind,
  peer: { kind: 'agent', name, card, seenAt: new Date(), replicas: 1, instances: [] },
});

it('a restarted gateway knows its id and its agents, also those that left, and ignores a line that was cut off', () => {
  const folder = join(root, 'new');
  const first = openGatewayState(folder);
  expect([first.id, first.peers]).toEqual([undefined, []]);
  first.record(change('joined', 'early'));
  first.begin('gw');
  for (const name of ['one', 'two']) first.record(change('joined', name));
  first.record(change('left', 'one'));
  appendFileSync(join(folder, 'gateway.jsonl'), '{"here":{"name":"th');
  const second = openGatewayState(folder);
  expect(second.id).toBe('gw');
  expect(second.peers.map(({ name, isHere }) => `${name} ${isHere}`)).toEqual(['early true', 'two true', 'one false']);
  second.begin('gw');
  expect(readFileSync(join(folder, 'gateway.jsonl'), 'utf8').split('\n')).toHaveLength(6);
  expect(openGatewayState(folder).peers).toEqual(second.peers);
});

it('reports a damaged file', () => {
  appendFileSync(join(root, 'gateway.jsonl'), 'no JSON\n');
  expect(() => openGatewayState(root)).toThrow("gateway.jsonl can't be read");
});

it('without a folder nothing is saved', () => {
  const state = openGatewayState(undefined);
  state.begin('gw');
  state.record(change('joined', 'one'));
  expect(openGatewayState(undefined).peers).toEqual([]);
});
