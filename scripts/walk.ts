// `npm run walk`: how many files and functions of ours one request enters, by room. Figures for docs/architecture.md.

import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineAgent } from 'parley-a2a/agents';
import { openSqliteStore } from 'parley-a2a/engine/sqlite';
import { serve } from 'parley-a2a/server/node';

const WARM_UP = 20;
const SRC = new URL('../src/', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'parley-walk-'));
const echo = defineAgent({ name: 'echo', description: 'Returns what it is sent.', run: (turn) => turn.text });
const node = await serve(echo, { port: 0, store: openSqliteStore(join(folder, 'tasks.db')) });
const session = new Session();
session.connect();
await session.post('Profiler.enable');

const message = (text: string) => ({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] });
const rpc = async (method: string, params: object, version = '1.0'): Promise<string> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'Content-Type': 'application/json', 'A2A-Version': version };
  return (await fetch(`${node.url}/a2a/jsonrpc`, { method: 'POST', headers, body })).text();
};
const made = JSON.parse(await rpc('SendMessage', { message: message('hello') })) as { result: { task: { id: string } } };
const WALKS: Readonly<Record<string, () => Promise<unknown>>> = {
  'send, 1.0 over JSON-RPC, on SQLite': () => rpc('SendMessage', { message: message('hello') }),
  'stream, the same': () => rpc('SendStreamingMessage', { message: message('hello') }),
  'get, the same': () => rpc('GetTask', { id: made.result.task.id }),
  'send, 0.3 over JSON-RPC': () =>
    rpc(
      'message/send',
      { message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text: 'hello' }] } },
      '0.3',
    ),
};

console.log('| request | files | functions | by room (files, functions) |\n|---|---|---|---|');
for (const [title, walk] of Object.entries(WALKS)) console.log(await walked(title, walk));
session.disconnect();
await node.close();
rmSync(folder, { recursive: true });

async function walked(title: string, walk: () => Promise<unknown>): Promise<string> {
  for (let at = 0; at < WARM_UP; at += 1) await walk();
  await new Promise((resolve) => setTimeout(resolve, 200));
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await walk();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const rooms = new Map<string, { files: number; functions: number }>();
  for (const { url, functions } of result) {
    const entered = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length;
    if (!url.startsWith(SRC) || entered === 0) continue;
    const room = url.slice(SRC.length).split('/')[0] ?? '';
    const known = rooms.get(room) ?? { files: 0, functions: 0 };
    rooms.set(room, { files: known.files + 1, functions: known.functions + entered });
  }
  const sum = (key: 'files' | 'functions') => [...rooms.values()].reduce((total, each) => total + each[key], 0);
  const parts = [...rooms].sort().map(([room, { files, functions }]) => `${room} ${files}, ${functions}`);
  return `| ${title} | ${sum('files')} | ${sum('functions')} | ${parts.join('; ')} |`;
}
