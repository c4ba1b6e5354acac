import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { resolveConfig } from '#server';
import { apiKeysFile, createKey } from '../../src/server/adapters/api-keys-file.ts';
import { logFor, serveConfigured } from '../../src/server/adapters/serve-configured.ts';
import { eventually } from '../support/eventually.ts';
import { scratchFolder } from '../support/scratch.ts';
import { builtIn, metric } from '../support/server.ts';

it('keeps the keys that it has read when their file is damaged, says so once, and reads the mended file', async () => {
  const folder = scratchFolder();
  const ann = createKey(folder, { name: 'ann', scopes: ['tasks:*', 'admin'] });
  const lines: string[] = [];
  const config = { port: 0, memory: true, authRequired: true, authFolder: folder, limits: { requestsBurstMax: 100_000 } };
  const settings = resolveConfig({ file: { path: 'parley.config.ts', config } });
  const log = logFor(settings, { write: (line) => void lines.push(line) });
  const server = await serveConfigured([{ agent: builtIn('echo'), source: 'echo' }], settings, { log });
  const bearer = (secret: string): Record<string, string> => ({ Authorization: `Bearer ${secret}` });
  const statusOf = async (secret: string): Promise<number> => (await fetch(`${server.url}/tasks`, { headers: bearer(secret) })).status;
  const isReadable = (): Promise<number> => metric(server.url, 'parley_api_keys_readable', bearer(ann.secret));
  const said = (words: string): number => lines.filter((line) => line.includes(words)).length;
  try {
    expect(await isReadable()).toBe(1);
    const whole = readFileSync(apiKeysFile(folder), 'utf8');
    writeFileSync(apiKeysFile(folder), whole.slice(0, whole.length / 2));
    await eventually(async () => {
      expect(await statusOf(ann.secret)).toBe(200);
      return said('API keys have changed and can’t be read') > 0;
    });
    expect([await statusOf(ann.secret), await statusOf('k'.repeat(43)), await isReadable()]).toEqual([200, 401, 0]);
    writeFileSync(apiKeysFile(folder), whole);
    const ben = createKey(folder, { name: 'ben', scopes: ['tasks:*'] });
    await eventually(async () => (await statusOf(ben.secret)) === 200);
    expect([await statusOf(ann.secret), await isReadable()]).toEqual([200, 1]);
    expect([said('can’t be read'), said('can be read again')]).toEqual([1, 1]);
  } finally {
    await server.close();
  }
});
