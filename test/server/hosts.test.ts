import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { nodeListener } from '../../src/server/adapters/node.ts';
import type { Running } from '../support/hosts.ts';
import { contract, run } from '../support/hosts.ts';
import { suiteNeeding } from '../support/needs.ts';
import { handlerOf } from '../support/server.ts';

/** The same handler on every host that Node runs. Each example is started as its first line says. test/runtimes has Bun and Deno. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const has = (name: string): boolean => existsSync(join(ROOT, 'node_modules', name, 'package.json'));

describe('a handler on a plain node:http server', () => {
  const AGENT = join(ROOT, 'examples/hosts/agent.ts');
  const listening = async (before?: (body: string) => unknown): Promise<Running> => {
    const { default: agent } = (await import(AGENT)) as { default: never };
    const handler = handlerOf({ agents: [agent] });
    const listener = nodeListener(handler);
    const server = createServer((incoming, outgoing) => {
      if (before === undefined || incoming.method !== 'POST') return listener(incoming, outgoing);
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      incoming.on('end', () => listener(Object.assign(incoming, { body: before(text) }), outgoing));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      stop: async () => {
        await handler.close();
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  };
  contract(() => listening());
  describe('behind a body parser that has already read the body', () => {
    contract(() => listening((text) => JSON.parse(text)));
    contract(() => listening((text) => Buffer.from(text)));
  });
});

suiteNeeding('express (npm)', has('express'), 'examples/hosts/express.mjs', () => {
  contract(() => run(process.execPath, ['--conditions=our-src', 'examples/hosts/express.mjs']));
});

suiteNeeding('express (npm)', has('express'), 'a handler below a prefix in Express', () => {
  it('has the prefix in its card', async () => {
    const program = [process.execPath, '--conditions=our-src', 'examples/hosts/express.mjs'];
    const { url, stop } = await run('env', ['PREFIX=/below/here', ...program]);
    const base = `${url}/below/here`;
    const card = (await (await fetch(`${base}/.well-known/agent-card.json`)).json()) as { supportedInterfaces: { url: string }[] };
    expect(card.supportedInterfaces.map((each) => each.url.startsWith(base))).not.toContain(false);
    await stop();
  });
});

suiteNeeding('hono and @hono/node-server (npm)', has('hono') && has('@hono/node-server'), 'examples/hosts/hono.mjs', () => {
  contract(() => run(process.execPath, ['--conditions=our-src', 'examples/hosts/hono.mjs']));
});
