import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { nodeListener } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import { handlerOf, sendBody } from '../support/server.ts';

/** The same handler on every host. Each example is started as its first line says and called over a real socket. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'parley-hosts-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name);
const has = (name: string): boolean => existsSync(join(ROOT, 'node_modules', name, 'package.json'));

interface Running {
  readonly url: string;
  stop(): Promise<void>;
}

async function run(command: string, args: readonly string[]): Promise<Running> {
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PORT: '0' } });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => resolve(text.trim()));
    void ended.then(() => reject(new Error(errors)));
  });
  return {
    url,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
const send = (url: string, path: string, text: string): Promise<Response> => post(`${url}${path}`, sendBody(text));
const taskId = async (url: string, body: unknown): Promise<string> =>
  ((await (await post(`${url}/message:send`, body)).json()) as { task: { id: string } }).task.id;

/** The checks for every host. */
function contract(start: () => Promise<Running>): void {
  it('serves the card, a call, a stream and an error', async () => {
    const { url, stop } = await start();
    try {
      const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
        name: string;
        supportedInterfaces: { url: string }[];
      };
      expect(card.name).toBe('shout');
      expect(card.supportedInterfaces[0]?.url).toBe(`${url}/a2a/jsonrpc`);
      const { task } = (await (await send(url, '/message:send', 'hello')).json()) as {
        task: { artifacts: { parts: { text: string }[] }[] };
      };
      expect(task.artifacts[0]?.parts[0]?.text).toBe('HELLO');
      // The host has reported the response as delivered, so the same message again creates another task.
      const body = sendBody('twice');
      const first = await taskId(url, body);
      await eventually(async () => (await taskId(url, body)) !== first);
      const stream = await send(url, '/message:stream', 'again');
      expect(stream.headers.get('content-type')).toBe('text/event-stream');
      expect(await stream.text()).toMatch(/id: 1\n[\s\S]*AGAIN[\s\S]*TASK_STATE_COMPLETED/);
      expect((await fetch(`${url}/a2a`)).status).toBe(405);
      expect((await fetch(`${url}/healthz`, { headers: { Origin: 'https://evil.example' } })).status).toBe(403);
    } finally {
      await stop();
    }
  });
}

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

suiteNeeding('hono and @hono/node-server (npm)', has('hono') && has('@hono/node-server'), 'examples/hosts/hono.mjs', () => {
  contract(() => run(process.execPath, ['--conditions=our-src', 'examples/hosts/hono.mjs']));
});

suiteNeeding('bun (npm)', existsSync(bin('bun')), 'examples/hosts/bun.ts', () => {
  contract(() => run(bin('bun'), ['--conditions=our-src', 'examples/hosts/bun.ts']));
});

suiteNeeding('deno (npm)', existsSync(bin('deno')), 'examples/hosts/deno.ts', () => {
  contract(() =>
    run(bin('deno'), ['run', '--allow-net', '--allow-env', '--no-lock', `--import-map=${importMap()}`, 'examples/hosts/deno.ts']),
  );
});

/** In a checkout package.json maps imports such as `#server` with a custom condition. This is the same as an import map, for runtimes without conditions. */
function importMap(): string {
  const { imports, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    'imports' | 'exports',
    Record<string, { 'our-src'?: string }>
  >;
  const at = (target: { 'our-src'?: string } | string): string | undefined => (typeof target === 'object' ? target['our-src'] : undefined);
  const rows = [
    ...Object.entries(imports),
    ...Object.entries(exports).map(([name, target]) => [name.replace('.', 'parley-a2a'), target] as const),
  ].flatMap(([name, target]) => (at(target) === undefined ? [] : [[name, `file://${join(ROOT, at(target) ?? '')}`] as const]));
  const file = join(scratch, 'import-map.json');
  writeFileSync(file, JSON.stringify({ imports: Object.fromEntries(rows) }));
  return file;
}
