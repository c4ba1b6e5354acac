import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { resolveConfig } from '#server';
import { createKey } from '../../src/server/adapters/api-keys-file.ts';
import { logFor, serveConfigured } from '../../src/server/adapters/serve-configured.ts';
import { metricProblems } from '../support/prometheus.ts';
import { scratchFolder } from '../support/scratch.ts';
import { builtIn } from '../support/server.ts';

const read = (path: string): string => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), 'utf8');

/** Only a node on a mesh has it. */
const ON_A_MESH = 'parley_broker_connected';

it('a node emits every metric that the alerts and the dashboard use', async () => {
  const folder = scratchFolder();
  const admin = createKey(join(folder, 'auth'), { name: 'prometheus', scopes: ['admin'] });
  const config = {
    ...{ port: 0, memory: false, data: join(folder, 'data'), authFolder: join(folder, 'auth'), authRequired: true },
    ...{ backup: { to: join(folder, 'backups') }, log: 'silent' as const },
    // Nobody listens there: an issuer that can't be reached has its metrics, too.
    jwt: { issuer: 'http://127.0.0.1:9', audience: ['parley'] },
  };
  const settings = resolveConfig({ file: { path: 'parley.config.ts', config } });
  const server = await serveConfigured([{ agent: builtIn('echo'), source: 'echo' }], settings, {
    log: logFor(settings, { write: () => {} }),
  });
  try {
    const text = await (await fetch(`${server.url}/metrics`, { headers: { Authorization: `Bearer ${admin.secret}` } })).text();
    expect(metricProblems(text)).toEqual([]);
    const emitted = new Set(Array.from(text.matchAll(/^# TYPE (\w+) /gm), ([, name]) => name));
    const used = `${read('prometheus/alerts.yml')}${read('grafana/parley.json')}`.match(/\b(?:parley|process)_[a-z_]+/g) ?? [];
    const bases = new Set(used.map((name) => (emitted.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, ''))));
    expect([...bases].filter((name) => !emitted.has(name))).toEqual([ON_A_MESH]);
  } finally {
    await server.close();
  }
});
