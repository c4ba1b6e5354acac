import { afterEach, expect, it } from 'vitest';
import type { ParleyConfig } from '#server';
import { resolveConfig } from '#server';
import { proxied } from '../../src/cli/remote/proxy-agent.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import type { ConfiguredServer } from '../../src/server/adapters/serve-configured.ts';
import { logFor, serveConfigured } from '../../src/server/adapters/serve-configured.ts';
import { keysOf } from '../support/key-ring.ts';
import { scratchFolder } from '../support/scratch.ts';
import { builtIn, sendBody, startServer } from '../support/server.ts';

const open: NodeServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0).reverse()) await server.close();
});
const keys = keysOf([{}]);
const authFolder = scratchFolder();

/** A proxy of an agent that needs a key, which the configuration of the proxy has. */
async function proxy(config: ParleyConfig = {}): Promise<{ server: ConfiguredServer; lines: readonly string[] }> {
  const origin = await startServer({ agents: [builtIn('echo')], auth: [keys.auth] });
  open.push(origin);
  const a2a = { remoteAgents: { origin: { endpoint: origin.url, authToken: keys.key(0) } } };
  const settings = resolveConfig({ file: { path: 'x', config: { port: 0, memory: true, authFolder, a2a, ...config } } });
  const lines: string[] = [];
  const server = await serveConfigured([await proxied('origin', settings)], settings, {
    log: logFor(settings, { write: (line) => lines.push(line) }),
  });
  open.push(server);
  return { server, lines };
}

const send = async ({ url }: NodeServer, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
  const body = JSON.stringify(sendBody('hello'));
  return (await fetch(`${url}/message:send`, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body })).status;
};

it('a proxy that calls an agent with its own credential demands one of its callers', async () => {
  const { server } = await proxy();
  expect(await send(server)).toBe(401);
  expect(await send(server, { Authorization: `Bearer ${server.token?.token}` })).toBe(200);
});

it('opens the agent to this machine only with --no-auth, and warns', async () => {
  const { server, lines } = await proxy({ auth: false });
  expect(await send(server)).toBe(200);
  expect(lines.join('')).toMatch(/DANGEROUS: everybody on this machine can call origin with the credential of this node/);
});

it('counts the query of an address as a credential', async () => {
  const origin = await startServer({ agents: [builtIn('echo')] });
  open.push(origin);
  const settings = resolveConfig({ file: { path: 'x', config: {} } });
  expect(await proxied(`${origin.url}/?key=secret`, settings)).toMatchObject({ lendsCredential: true });
});

it('stays open if it has no credential to lend', async () => {
  const origin = await startServer({ agents: [builtIn('echo')] });
  open.push(origin);
  const settings = resolveConfig({ file: { path: 'x', config: { port: 0, memory: true, authFolder, log: 'silent' } } });
  const server = await serveConfigured([await proxied(origin.url, settings)], settings, { log: logFor(settings, { write: () => {} }) });
  open.push(server);
  expect(await send(server)).toBe(200);
});
