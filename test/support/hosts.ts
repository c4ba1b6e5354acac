import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { sendBody } from './server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Running {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts an example in the root of the project, on a free port. The first line that it prints is its address. */
export async function run(command: string, args: readonly string[]): Promise<Running> {
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

/** The checks for every host, over a real socket. */
export function contract(start: () => Promise<Running>): void {
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
