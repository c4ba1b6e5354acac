import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/brokers.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import { launchServe } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { getTask, sendTask } from './client.ts';

suiteNeeding('postgresql', hasPostgres, 'a node that stands by', () => {
  const [folder, data] = [postgresFolder(), scratchFolder()];
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());
  it('forwards', { timeout: 120_000 }, async () => {
    const ports = [await freePort(), await freePort()];
    const start = (at: number) => launchServe({ args: ['script', '--store', postgres.url, '--store-lease-ms', '2000', '--data', join(data, `n${at}`), '--port', String(ports[at])] });
    const first = start(0);
    await first.said('{"event":"ready"');
    const second = start(1);
    await second.said('{"event":"standby"').catch((e) => { throw new Error(String(e)); });
    const url = `http://127.0.0.1:${ports[1]}`;
    console.log(await (await fetch(`${url}/readyz`)).text());
    const t = await sendTask(url, 'chunks=3');
    console.log(JSON.stringify(t));
    console.log(JSON.stringify(await getTask(url, t.id)));
    const m = await (await fetch(`${url}/metrics`)).text();
    console.log(m.split('\n').filter((l) => l.includes('replica')).join('\n'));
    first.process.kill('SIGKILL');
    const u = await sendTask(url, 'chunks=2');
    console.log(JSON.stringify(u));
    await second.said('{"event":"ready"');
    console.log(second.errors());
    second.process.kill('SIGTERM');
    console.log(await second.ended);
    await eventually(() => expect(1).toBe(1));
    void pg;
  });
});
