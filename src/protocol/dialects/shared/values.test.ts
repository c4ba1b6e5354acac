import { describe, expect, it } from 'vitest';
import type { ReadEnv } from '../dialect.ts';
import { DEFAULT_READ_LIMITS } from '../dialect.ts';
import { attempt } from './read.ts';
import { base64, timestampIf } from './values.ts';

const env: ReadEnv = { ids: { next: () => 'id' }, limits: DEFAULT_READ_LIMITS };
const outcome = <T>(read: () => T): unknown => attempt(read, undefined, env);

describe('timestamps', () => {
  it.each([
    ['2026-03-12T00:00:00Z', '2026-03-12T00:00:00Z'],
    ['2026-03-12T00:00:00.123456789Z', '2026-03-12T00:00:00.123456789Z'],
    ['2026-03-12T00:00:00.123456+00:00', '2026-03-12T00:00:00.123456Z'],
    ['2026-03-12T02:00:00+02:00', '2026-03-12T00:00:00.000Z'],
    ['2026-03-12T02:00:00+0200', '2026-03-12T00:00:00.000Z'],
    ['2026-03-12 00:00:00', '2026-03-12T00:00:00Z'],
    ['2026-03-12t00:00:00z', '2026-03-12T00:00:00Z'],
  ])('reads %s', (wire, canonical) => expect(timestampIf(wire, 'timestamp')).toBe(canonical));

  it.each([
    '2026-13-45T99:99:99Z',
    '2026-02-30T00:00:00Z',
    '2026-02-30T00:00:00+02:00',
    '2026-03-12T24:00:00Z',
    'yesterday',
    '2026-03-12',
    5,
    {},
  ])('refuses %j by name', (wire) => {
    expect(outcome(() => timestampIf(wire, 'timestamp'))).toMatchObject({ ok: false, path: 'timestamp' });
  });
});

describe('base64', () => {
  it.each([
    ['aGk=', 'aGk='],
    ['aGk', 'aGk='],
    ['-_-_', '+/+/'],
    ['', ''],
  ])('reads %s', (wire, canonical) => expect(base64(wire, 'raw')).toBe(canonical));

  it('refuses a long run of padding without backtracking', () => {
    expect(outcome(() => base64(`${'='.repeat(100_000)}x`, 'raw'))).toMatchObject({ ok: false, path: 'raw' });
  });

  it.each(['a', 'not base64 !', 'aG=k', 7])('refuses %j by name', (wire) => {
    expect(outcome(() => base64(wire, 'raw'))).toMatchObject({ ok: false, path: 'raw' });
  });
});
