import { expect } from 'vitest';
import { logFor, serveConfigured } from '../../../src/server/adapters/serve-configured.ts';
import { builtIn, metric, startServer } from '../../support/server.ts';
import type { Checks } from './serving.ts';
import { gone, resolved, send, served, start, talker } from './serving.ts';

/** The block `a2a` of CortexPrism's configuration. */
export const A2A_BLOCK_CHECKS: Checks = {
  'a2a.enabled': async () => expect(resolved({ a2a: { enabled: false } }).a2a.enabled).toBe(false), // test/cli/serve.test.ts tests the refusal
  'a2a.server.port': async () => {
    let taken = 0;
    await served({}, async ({ port }) => {
      taken = port;
    });
    const settings = resolved({ a2a: { server: { port: taken } }, memory: true, agents: ['echo'], log: 'silent' });
    const server = await serveConfigured([{ agent: builtIn('echo'), source: 'echo' }], settings, { log: logFor(settings) });
    expect(server.port).toBe(taken);
    await server.close();
  },
  'a2a.server.bindAddress': () =>
    served({ a2a: { server: { bindAddress: '127.0.0.3' } } }, async ({ url }) => expect(url).toContain('127.0.0.3')),
  'a2a.server.allowedOrigins': () =>
    served({ a2a: { server: { allowedOrigins: ['https://app.example'] } } }, async ({ url }) =>
      expect((await fetch(`${url}/healthz`, { headers: { Origin: 'https://app.example' } })).status).toBe(200),
    ),
  'a2a.remoteAgents': async () => {
    const partner = await startServer({ agents: [builtIn('echo')] });
    const a2a = { remoteAgents: { 'partner-bot': { endpoint: partner.url, authToken: 'partner-token-9' } } };
    await served({ agents: ['partner-bot'], a2a }, async ({ url }) => {
      const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as { readonly name: string };
      expect(card.name).toBe('partner-bot');
    }).finally(() => partner.close());
    const lines: string[] = [];
    await served({ a2a, log: 'debug' }, async ({ url }) => void (await fetch(`${url}/partner-token-9`)), { lines });
    expect(lines.join('')).toContain('/[removed]');
  },
  'a2a.MAX_TASKS': () =>
    served({ a2a: { MAX_TASKS: 1 } }, async (server) => {
      await start(server, 'sleep=1500');
      expect((await start(server, 'chunks=1')).status.state).toBe('TASK_STATE_SUBMITTED');
    }),
  'a2a.MAX_CONTEXTS': () =>
    served(
      { a2a: { MAX_CONTEXTS: 1 } },
      async (server) => {
        for (let at = 0; at < 3; at += 1) await send(server, 'x');
        expect(await metric(server.url, 'parley_contexts_open')).toBe(1);
      },
      { agent: talker },
    ),
  'a2a.TASK_TTL_MS': () => served({ a2a: { TASK_TTL_MS: 100 }, limits: { sweepMs: 50, tickMs: 20 } }, gone),
  'a2a.IDLE_CLEANUP_INTERVAL_MS': () => served({ a2a: { IDLE_CLEANUP_INTERVAL_MS: 50 }, limits: { finishedMsMax: 1, tickMs: 20 } }, gone),
};
