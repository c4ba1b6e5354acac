import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AuditPage, AuditRecord } from '#protocol';
import type { ChainVerdict } from '../../src/server/adapters/audit-table.ts';
import { jsonOf, linesOf, run } from '../cli/run.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { pause, sendInit } from './client.ts';
import type { NodePair } from './node-pair.ts';
import { pair } from './node-pair.ts';

interface Verdict {
  readonly ok: boolean;
  readonly records: number;
  readonly chains: readonly ChainVerdict[];
}

suiteNeeding('Postgres', hasPostgres, 'the audit log of several nodes', () => {
  const [folder, place] = [scratchFolder(), postgresFolder()];
  let server: PostgresServer | undefined;
  let nodes: NodePair | undefined;
  let key = '';
  const env = { XDG_CONFIG_HOME: join(folder, 'home') };
  const audit = (...args: readonly string[]): ReturnType<typeof run> => run(['audit', ...args, '--store', server?.url ?? ''], { env });
  const call = (url: string, path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}${path}`, { ...init, headers: { ...init.headers, Authorization: `Bearer ${key}` } });
  const pageOf = async (url: string): Promise<AuditPage> =>
    (await (await call(url, '/api/parley/v1/audit?limit=1000')).json()) as AuditPage;

  beforeAll(async () => {
    server = await startPostgres(place);
    const made = await run(['keys', 'create', 'root', '--scope', 'tasks:read,tasks:write,node-admin', '--json', '--store', server.url], {
      env,
    });
    key = jsonOf<{ key: string }>(made).key;
    nodes = await pair({ folder, store: server.url, args: ['--require-auth'], env });
  }, 120_000);
  afterAll(async () => {
    await nodes?.stop();
    await server?.stop();
  });

  it('is one for all, at every node and on the command line', { timeout: 120_000 }, async () => {
    const [first = '', second = ''] = nodes?.urls ?? [];
    // A node without cells forwards, and then both have a record.
    await eventually(async () => {
      await pause(250); // each look counts for the rate limit of the key
      const { replicas } = (await (await call(first, '/api/parley/v1/replicas')).json()) as { replicas: { cells: number }[] };
      expect(replicas.map(({ cells }) => cells > 0)).toEqual([true, true]);
    });
    for (let round = 0; round < 5; round += 1)
      for (const url of [first, second]) expect((await call(url, '/message:send', sendInit('hello'))).status).toBe(200);
    const isSend = ({ action }: AuditRecord): boolean => action === 'send';
    await eventually(async () => {
      const { records } = await pageOf(first);
      expect(records.filter(isSend).map(({ node }) => node)).toHaveLength(10);
    });
    const { records } = await pageOf(second);
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at + 1));
    for (const url of [first, second]) expect(records.filter((record) => isSend(record) && record.node === url)).toHaveLength(5);
    const exported = linesOf<AuditRecord>(await audit('export'));
    const times = exported.map(({ time }) => time);
    expect(times).toEqual(times.toSorted());
    for (const url of [first, second]) {
      const own = exported.filter(({ node }) => node === url).map(({ chainSeq }) => chainSeq);
      expect(own).toEqual(own.map((_, at) => at + 1));
    }
    const shown = await audit('tail', '-n', '100');
    expect([shown.code, shown.out.match(/ send script .*, at http/g)?.length]).toEqual([0, 10]);
  });

  it('has a chain of each process, which shows what was changed', { timeout: 120_000 }, async () => {
    nodes?.children[1]?.process.kill('SIGKILL');
    await nodes?.restart(1);
    const intact = jsonOf<Verdict>(await audit('verify', '--json'));
    expect([intact.ok, intact.chains.map(({ chain }) => chain)]).toEqual([true, [1, 2, 3]]);
    const killed = intact.chains.find(({ node, chain }) => node === nodes?.urls[1] && chain < 3);
    const words = await audit('verify', '--head', killed?.head ?? '');
    expect([words.code, words.out]).toEqual([0, expect.stringContaining(`chain ${killed?.chain} of ${nodes?.urls[1]}`)]);
    const client = new pg.Client(server?.url);
    await client.connect();
    await client.query('DELETE FROM parley.audit WHERE chain = $1 AND last = $2', [killed?.chain, killed?.records]);
    await client.end();
    const cut = await audit('verify', '--head', killed?.head ?? '');
    expect([cut.code, cut.err]).toEqual([1, expect.stringMatching(/was changed or removed|none of them has the hash/)]);
  });

  it('is not in the data folders', async () => {
    const files = await run(['audit', 'tail', '--data', join(folder, 'data-0')], { env });
    expect([files.code, files.err]).toEqual([1, expect.stringContaining('--store')]);
    const both = await audit('tail', '--data', join(folder, 'data-0'));
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('--store excludes --data')]);
  });
});
