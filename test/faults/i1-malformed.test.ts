import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import { exchange, httpSeeds, rssMib } from '../support/http-seeds.ts';
import { malformed } from '../support/malformed.ts';
import { seeded } from '../support/mutate.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { sendTask } from './client.ts';
import { startParley } from './parley.ts';
import { times } from './size.ts';

/**
 * docs/faults.md I1 and H9 together: everything that can be wrong with a request, on every route of a node with authentication, over
 * sockets. Most requests have a valid credential, so that they pass authentication.
 */
const REQUESTS = times(5000, 100_000);
const AT_ONCE = 16;
/** When run from source. Memory grows until about the 50,000th request, and then stays at about 400 MiB. */
const RSS_MIB_MAX = 512;
const TOKEN = 'the-token-of-a-node-that-is-mistreated';
const data = scratchFolder();

suiteNeeding('Linux', process.platform === 'linux', 'I1: malformed requests to the server', () => {
  let server: Parley;
  beforeAll(async () => {
    const args = ['script', '--require-auth', '--allow-loopback-targets'];
    server = await startParley({ agent: 'echo', data, args, env: { PARLEY_TOKEN: TOKEN } });
  });
  afterAll(() => server.kill());

  it(`(${REQUESTS}) cause no crash, no 5xx, no hang, and memory is bounded`, { timeout: 3_000_000 }, async () => {
    const seeds = httpSeeds(server.port, TOKEN);
    const random = seeded(Number(process.env['PARLEY_SEED'] ?? 4));
    const outcomes = new Map<string, number>();
    const wrong: string[] = [];
    let [left, mostMib] = [REQUESTS, 0];
    const caller = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        if (left % 500 === 0) mostMib = Math.max(mostMib, rssMib(server.pid));
        const bytes = malformed(seeds, random);
        const outcome = await exchange(server.port, bytes);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (/^5|hang|refused/.test(outcome)) wrong.push(`${outcome}: ${bytes.toString('latin1').slice(0, 2000)}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, caller));
    const shares = Object.fromEntries([...outcomes].sort((a, b) => b[1] - a[1]));
    process.stdout.write(`I1, malformed: ${JSON.stringify(shares)}, at most ${Math.round(mostMib)} MiB\n`);
    expect(wrong.slice(0, 5)).toEqual([]);
    // Requests that are all refused by the first check would prove little.
    expect((outcomes.get('200') ?? 0) / REQUESTS).toBeGreaterThan(0.1);
    expectFigure(mostMib, { below: RSS_MIB_MAX });
    expect(server.errors().match(/"level":"error".*/g) ?? []).toEqual([]);
    await eventually(() => connectionsOf(server) === 0);
    const headers = { Authorization: `Bearer ${TOKEN}` };
    expect((await sendTask(server.url, 'still here', { headers })).status.state).toBe('TASK_STATE_COMPLETED');
  });
});

/** Open connections of the node: neither listening (0A) nor in TIME_WAIT (06). See proc_net_tcp(5). */
function connectionsOf({ pid, port }: Parley): number {
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n').slice(1);
  const mine = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return rows.filter((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/);
    return local.endsWith(mine) && state !== '0A' && state !== '06';
  }).length;
}
