import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKey } from '../src/server/adapters/node-keys.ts';
import type { Server } from './children.ts';
import { newFolder, startParley } from './children.ts';
import { requestsPerSecond } from './load.ts';
import { quartiles } from './measure.ts';
import type { Figure, Rates } from './server.ts';
import { inTurns, medianOf, ratiosOf, sendOf } from './server.ts';

const CONNECTIONS = 32;
/** Counted as ever, and never reached. */
const WIDE = ['requestsPerSecondMax', 'requestsBurstMax', 'callerTasksMax', 'callerBytesPerMinuteMax'].flatMap((name) => [
  '--limit',
  `${name}=1000000000`,
]);

/**
 * Blocking sends to two durable nodes, in turns: one that is open and writes nothing down, and one whose callers show a key that is looked up,
 * counted, authorised and written into the audit log.
 */
export async function benchGate(rounds: number, ms: number): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-keys-'));
  const { secret } = createKey(folder, { name: 'bench', scopes: ['tasks:*'] });
  const servers: Readonly<Record<string, Server>> = {
    open: await startParley(['echo'], ['--data', newFolder()], ['--no-audit', ...WIDE]),
    gated: await startParley(['echo'], ['--data', newFolder()], ['--require-auth', '--auth-folder', folder, ...WIDE]),
  };
  const micros: Record<string, number[]> = { open: [], gated: [] };
  const rates = await inTurns(servers, rounds, async (name, server) => {
    const before = server.cpuMs();
    const headers = name === 'gated' ? `Authorization: Bearer ${secret}\r\n` : '';
    const rate = await requestsPerSecond(`${server.url}/a2a`, () => sendOf('v10'), { connections: CONNECTIONS, ms, headers });
    micros[name]?.push(((server.cpuMs() - before) * 1000) / (rate * (ms / 1000)));
    return rate;
  });
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  const cpu: Rates = { open: micros['open']?.slice(1) ?? [], gated: micros['gated']?.slice(1) ?? [] };
  const perSecond = (name: string): string => `${Math.round(medianOf(rates, name)).toLocaleString('en')}/s`;
  return [
    {
      what: 'blocking send through the gate, durable, 32 connections',
      value: perSecond('gated'),
      beside: `open, without audit ${perSecond('open')}: ${quartiles(ratiosOf(rates, 'gated', 'open'), 3)} of it`,
      goal: '≥ 0.95',
    },
    {
      what: '',
      value: `${quartiles(cpu['gated'] ?? [], 0)} µs of processor a send`,
      beside: `open ${quartiles(cpu['open'] ?? [], 0)} µs: ${quartiles(ratiosOf(cpu, 'gated', 'open'), 3)} ×`,
      goal: '≤ 1.05',
    },
  ];
}
