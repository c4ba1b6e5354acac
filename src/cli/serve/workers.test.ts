import { describe, expect, it } from 'vitest';
import { resolveConfig } from '#server';
import { linkOf } from './worker.ts';
import { restartDelayMs, workersFor } from './workers.ts';

const STORE = 'postgres://parley@localhost/parley';

function asked(env: Readonly<Record<string, string>>, stdio = false): number {
  return workersFor(resolveConfig({ env }), { stdio });
}

describe('--workers', () => {
  it('takes a number, or the number of cores', () => {
    expect(asked({ PARLEY_WORKERS: '3', PARLEY_STORE: STORE })).toBe(3);
    expect(asked({ PARLEY_WORKERS: 'auto', PARLEY_STORE: STORE })).toBeGreaterThan(0);
  });

  it('refuses other values', () => {
    for (const value of ['0', '-1', '1.5', 'many', '257'])
      expect(() => asked({ PARLEY_WORKERS: value })).toThrow('is not a whole number from 1 to 256, or auto');
  });

  it('refuses what workers can’t share, and says what to type', () => {
    expect(() => asked({ PARLEY_WORKERS: '2' })).toThrow('--workers needs a Postgres database');
    expect(() => asked({ PARLEY_WORKERS: '2', PARLEY_STORE: STORE, PARLEY_MEMORY: '1' })).toThrow('--workers needs a Postgres database');
    expect(() => asked({ PARLEY_WORKERS: '2', PARLEY_STORE: STORE, PARLEY_SOCKET: '/run/a' })).toThrow('not a Unix socket');
    expect(() => asked({ PARLEY_WORKERS: '2', PARLEY_STORE: STORE }, true)).toThrow('standard input has one reader');
  });
});

describe('a worker', () => {
  it('is started again later and later', () => {
    expect([0, 1, 2, 3, 7, 50].map(restartDelayMs)).toEqual([100, 500, 1000, 2000, 30_000, 30_000]);
  });

  it('has a port of its own for the link', () => {
    expect(linkOf('10.0.0.5:7000', 1)).toBe('10.0.0.5:7000');
    expect(linkOf('[::1]:7000', 3)).toBe('[::1]:7002');
    expect(linkOf('10.0.0.5', 3)).toBe('10.0.0.5');
  });
});
