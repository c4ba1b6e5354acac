import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIALECT_SERVERS, serveDialect } from '../support/dialect-servers.ts';
import type { Listening } from '../support/listen.ts';
import { listen } from '../support/listen.ts';
import { scratchFolder } from '../support/scratch.ts';
import { fieldOf, run } from './run.ts';

describe('ask and send call agents of every dialect', () => {
  for (const server of DIALECT_SERVERS) {
    const { dialect, cardPath, version } = server;
    it(`${dialect}, card at ${cardPath}`, async () => {
      const { url, close } = await serveDialect(server);
      const asked = await run(['ask', url, 'hi']);
      expect([asked.code, asked.out], asked.err).toEqual([0, 'chunk 1\n']);
      const named = version === undefined ? [] : ['--a2a-version', version];
      const sent = await run(['send', '-a', url, ...named, 'hi']);
      expect([sent.code, fieldOf(sent, 'State')], sent.err).toEqual([0, 'COMPLETED']);
      expect(sent.out).toContain('chunk 1');
      const byCard = await run(['send', '-a', `${url}${cardPath}`, ...named, 'hi']);
      expect([byCard.code, fieldOf(byCard, 'State')], byCard.err).toEqual([0, 'COMPLETED']);
      expect((await run(['card', 'get', url])).code).toBe(0);
      await close();
    });
  }
});

it('ask ends after remoteAgents.timeout, not after the time limit of the dialect', async () => {
  const slow: Listening = await listen(async (request) => {
    if (request.method === 'GET')
      return Response.json({ name: 'slow', description: 'Slow.', url: slow.url, version: '1.0.0', capabilities: {}, skills: [] });
    const { id } = (await request.json()) as { readonly id: string };
    await new Promise((resolve) => setTimeout(resolve, 3000));
    return Response.json({
      jsonrpc: '2.0',
      id,
      result: { id, status: { state: 'completed' }, artifacts: [{ parts: [{ type: 'text', text: 'late' }] }] },
    });
  });
  const cwd = scratchFolder();
  const agent = (timeout: number): string => JSON.stringify({ a2a: { remoteAgents: { slow: { endpoint: slow.url, timeout } } } });
  writeFileSync(join(cwd, 'parley.config.json'), agent(300));
  const short = await run(['ask', 'slow', 'hi'], { cwd });
  expect([short.code === 0, short.out]).toEqual([false, '']);
  writeFileSync(join(cwd, 'parley.config.json'), agent(60_000));
  expect(await run(['ask', 'slow', 'hi'], { cwd })).toMatchObject({ code: 0, out: 'late\n' });
  await slow.close();
});
