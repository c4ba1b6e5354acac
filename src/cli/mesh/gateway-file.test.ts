import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createCard } from '#agents';
import type { PeerChange } from '#mesh';
import { keptIn } from './gateway-file.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-kept-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const card = createCard({ name: 'echo', description: 'Says it again.' });
const change = (kind: PeerChange['kind'], name: string): PeerChange => ({
  kind,
  peer: { kind: 'agent', name, card, seenAt: new Date(), replicas: 1, instances: [] },
});

it('what a gateway knows outlives it, those who left included, and a line that was cut off is none', () => {
  const folder = join(root, 'new');
  const first = keptIn(folder);
  expect([first.id, first.peers]).toEqual([undefined, []]);
  first.note(change('joined', 'early'));
  first.begin('gw');
  for (const name of ['one', 'two']) first.note(change('joined', name));
  first.note(change('left', 'one'));
  appendFileSync(join(folder, 'gateway.jsonl'), '{"here":{"name":"th');
  const second = keptIn(folder);
  expect(second.id).toBe('gw');
  expect(second.peers.map(({ name, isHere }) => `${name} ${isHere}`)).toEqual(['early true', 'two true', 'one false']);
  second.begin('gw');
  expect(readFileSync(join(folder, 'gateway.jsonl'), 'utf8').split('\n')).toHaveLength(6);
  expect(keptIn(folder).peers).toEqual(second.peers);
});

it('reports a damaged file', () => {
  appendFileSync(join(root, 'gateway.jsonl'), 'no JSON\n');
  expect(() => keptIn(root)).toThrow("gateway.jsonl can't be read");
});

it('without a folder nothing is kept', () => {
  const kept = keptIn(undefined);
  kept.begin('gw');
  kept.note(change('joined', 'one'));
  expect(keptIn(undefined).peers).toEqual([]);
});
