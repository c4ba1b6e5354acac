import { describe, expect, it } from 'vitest';
import { examine } from '../../src/client/doctor/examine.ts';
import type { Finding } from '../../src/client/doctor/finding.ts';
import { DIALECT_SERVERS, serveDialect } from '../support/dialect-servers.ts';
import { cortexServer, societyServer } from '../support/product-servers.ts';
import { startServer } from '../support/server.ts';

async function findings(url: string): Promise<readonly Finding[]> {
  const all: Finding[] = [];
  const options = { fetch: (request: Request) => fetch(request), signal: AbortSignal.timeout(20_000), timeoutMs: 5000 };
  for await (const finding of examine(url, options)) all.push(finding);
  return all;
}

const bad = (all: readonly Finding[]): readonly Finding[] => all.filter(({ level }) => level === 'error' || level === 'warning');

describe('doctor finds nothing wrong with', () => {
  it.each([
    ['Society', societyServer],
    ['CortexPrism', cortexServer],
  ] as const)('a healthy server of %s', async (_, open) => {
    const server = await open();
    const all = await findings(server.url);
    expect(bad(all)).toEqual([]);
    expect(all.map(({ id }) => id)).toContain('usable');
    await server.close();
  });

  it('a healthy server of PromptKit, whose card names no address', async () => {
    const row = DIALECT_SERVERS.find(({ dialect }) => dialect === 'promptkit');
    if (row === undefined) throw new Error('no PromptKit server');
    const server = await serveDialect(row);
    const all = await findings(server.url);
    expect(bad(all)).toEqual([]);
    expect(all.map(({ id }) => id)).toContain('usable');
    await server.close();
  });

  it('a card at the official path whose address has a query', async () => {
    const node = await startServer();
    const all = await findings(`${node.url}/.well-known/agent-card.json?tenant=a`);
    expect(all.map(({ id }) => id)).not.toContain('card-old-path');
    await node.close();
  });
});
