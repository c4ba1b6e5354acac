import { createKey } from '../../src/server/adapters/api-keys-file.ts';
import type { Server } from '../children.ts';
import { newFolder, startParley } from '../children.ts';
import { requestsPerSecond } from '../load.ts';
import type { Rounds } from '../measure.ts';
import { cpuMicros, inTurns, percentile, quartiles, ratios } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';
import { sendIn } from './sends.ts';

const CONNECTIONS = 32;
type Side = 'open' | 'checked';
/** Limits that are counted as usual, but never reached. */
const WIDE = ['requestsPerSecondMax', 'requestsBurstMax', 'callerTasksMax', 'callerBytesPerMinuteMax'].flatMap((name) => [
  '--limit',
  `${name}=1000000000`,
]);

/**
 * Measures blocking sends to two durable nodes, in turns. One is open and has no audit log. The other looks up the caller's key, counts
 * the call, authorises it and records it in the audit log.
 */
export async function benchAccess({ rounds, warmUp, ms }: Sizes): Promise<readonly Figure[]> {
  const folder = newFolder();
  const { secret } = createKey(folder, { name: 'bench', scopes: ['tasks:*'] });
  const servers: Readonly<Record<Side, Server>> = {
    open: await startParley('echo', ['--data', newFolder(), '--no-audit', ...WIDE]),
    checked: await startParley('echo', ['--data', newFolder(), '--require-auth', '--auth-folder', folder, ...WIDE]),
  };
  const micros: Record<Side, number[]> = { open: [], checked: [] };
  const send = sendIn('v10');
  const rates = await inTurns<Side>(['open', 'checked'], { rounds, warmUp }, async (side) => {
    const before = cpuMicros(servers[side].pid);
    const began = performance.now();
    const headers = side === 'checked' ? { Authorization: `Bearer ${secret}` } : {};
    const rate = await requestsPerSecond({ url: `${servers[side].url}/a2a`, ...send, headers, connections: CONNECTIONS, ms });
    micros[side].push((cpuMicros(servers[side].pid) - before) / (rate * ((performance.now() - began) / 1000)));
    return rate;
  });
  for (const server of Object.values(servers)) await server.stop();
  return accessFigures(rates, { open: micros.open.slice(-rounds), checked: micros.checked.slice(-rounds) });
}

function accessFigures(rates: Rounds<Side>, micros: Rounds<Side>): readonly Figure[] {
  const rate = (side: Side): string => `${count(percentile(rates[side], 0.5))}/s`;
  return [
    {
      what: `blocking send through the access checks, durable, ${CONNECTIONS} connections`,
      value: rate('checked'),
      beside: `open, without audit ${rate('open')}: ${quartiles(ratios(rates, 'checked', 'open'))} of it`,
      goal: '≥ 0.95',
    },
    {
      what: '',
      value: `${quartiles(micros.checked, 0)} µs of processor time per send`,
      beside: `open ${quartiles(micros.open, 0)} µs: ${quartiles(ratios(micros, 'checked', 'open'))} ×`,
      goal: '≤ 1.05',
    },
  ];
}
