import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { A2AService } from '#protocol';
import { createUserMessage } from '#protocol';
import { resolveConfig } from '#server';
import { toolsOf } from '#tools';
import { reach } from '../../src/cli/remote/connect.ts';
import { guardedFetchFor } from '../../src/cli/remote/guarded-fetch.ts';
import { proxied } from '../../src/cli/remote/proxy-agent.ts';
import { remoteKeys } from '../../src/server/access/authentication/jwks.ts';
import { createOutbound } from '../../src/server/adapters/outbound.ts';
import { mcpAgent } from '../../src/tools/adapters/mcp.ts';
import type { Listening } from '../support/listen.ts';
import { listen } from '../support/listen.ts';
import { callContext } from '../support/talk.ts';

/** Stands for a service that only this machine can reach. No request may arrive here. */
let inside: Listening;
/** The agent that the operator named. What it serves at `/.well-known/agent-card.json` changes with each test. */
let origin: Listening;
let hits: string[] = [];
let calls: string[] = [];
let card: object = {};
const closing: Listening[] = [];

beforeAll(async () => {
  inside = await listen(async (request) => {
    hits.push(`${request.method} ${new URL(request.url).pathname}`);
    return Response.json({});
  });
  origin = await listen(async (request) => {
    const { pathname, origin: own } = new URL(request.url);
    calls.push(pathname);
    if (pathname.endsWith('agent-card.json')) return Response.json(card);
    if (pathname === '/mcp') return new Response(null, { status: 307, headers: { Location: `${inside.url}/latest` } });
    if (pathname.endsWith('openid-configuration')) return Response.json({ issuer: own, jwks_uri: `${inside.url}/jwks` });
    return Response.json({ jsonrpc: '2.0', id: 1, result: { message: { messageId: 'r', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } } });
  });
  closing.push(inside, origin);
});
afterAll(() => Promise.all(closing.map((each) => each.close())));
beforeEach(() => {
  [hits, calls] = [[], []];
});

const settings = (flags: readonly (readonly [string, string])[] = []) =>
  resolveConfig({ flags: new Map(flags.map(([name, value]) => [name, [value]])), env: {} });

function cardNaming(...urls: readonly string[]): object {
  return {
    ...{ name: 'far', description: 'An agent elsewhere.', version: '1', capabilities: {} },
    ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
    skills: [{ id: 'ask', name: 'Ask', description: 'Asks.', tags: ['x'] }],
    supportedInterfaces: urls.map((url) => ({ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' })),
  };
}

const send = (service: A2AService): Promise<unknown> => service.send({ message: createUserMessage('x') }, callContext());

/** The same address in other words. */
const spellings = (): readonly string[] => {
  const { port } = new URL(inside.url);
  return ['127.0.0.1', '0x7f.1', 'localhost', '[::ffff:7f00:1]', '2130706433'].map((host) => `http://${host}:${port}/latest/meta-data`);
};

describe('a card of an agent that a node calls', () => {
  it('may name the address that the operator gave, on loopback too, in any spelling', async () => {
    card = cardNaming(`${origin.url.replace('127.0.0.1', 'localhost')}/rpc`);
    const { service } = await reach(origin.url, settings());
    expect(await send(service)).toMatchObject({ message: { parts: [{ text: 'hi' }] } });
    expect(calls).toContain('/rpc');
  });

  it('can’t make the node call another port of this machine: proxy, serve URL, remoteAgents', async () => {
    for (const url of spellings()) {
      card = cardNaming(url);
      const { service } = await reach(origin.url, settings());
      await expect(send(service)).rejects.toThrow();
      await expect(proxied(origin.url, settings())).resolves.toMatchObject({ source: origin.url });
    }
    expect(hits).toEqual([]);
  });

  it('is called at its other address if one is forbidden', async () => {
    card = cardNaming(spellings()[0] ?? '', `${origin.url}/rpc`);
    const { service } = await reach(origin.url, settings());
    expect(await send(service)).toMatchObject({ message: { parts: [{ text: 'hi' }] } });
    expect(hits).toEqual([]);
  });

  it('can’t make the tools of parley mcp call it either, and the error says how to allow it', async () => {
    card = cardNaming(spellings()[1] ?? '');
    const [tool] = await toolsOf([{ url: origin.url, retry: { tries: 1 } }], {
      client: { fetch: guardedFetchFor([origin.url], settings()) },
    });
    const outcome = await tool?.execute({ query: 'x' }).catch((thrown: unknown) => String(thrown));
    expect(JSON.stringify(outcome)).toContain('must not call');
    expect(hits).toEqual([]);
  });

  it('may name what the operator allows', async () => {
    card = cardNaming(spellings()[0] ?? '');
    const { service } = await reach(origin.url, { ...settings(), allowLoopbackTargets: true });
    await send(service).catch(() => undefined);
    expect(hits).not.toEqual([]);
  });
});

describe('other addresses that others name', () => {
  it('a redirect of an MCP server is not followed, with and without the guard', async () => {
    const url = `${origin.url}/mcp`;
    for (const options of [{}, { fetch: guardedFetchFor([url], settings()) }])
      await expect(mcpAgent({ url }, { startMsMax: 5000, ...options })).rejects.toThrow();
    expect(calls).toContain('/mcp');
    expect(hits).toEqual([]);
  });

  it('an issuer can’t send the node to another port for its keys', async () => {
    const outbound = createOutbound({ namedUrls: [origin.url] });
    const { find: keys } = remoteKeys({
      issuer: origin.url,
      jwksUrl: undefined,
      fetch: outbound.fetchWithin({ bytesMax: 1e6, msMax: 5000 }),
    });
    await expect(keys({ alg: 'RS256', kid: 'x' }, { payload: '', signature: '' })).rejects.toThrow('could not be fetched');
    expect(calls.join()).toContain('openid-configuration');
    expect(hits).toEqual([]);
    await outbound.close();
  });
});
