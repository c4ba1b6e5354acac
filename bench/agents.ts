// `node --conditions=our-src bench/agents.ts [--runs N]`: what Parley adds between the first byte that a CLI writes and the first event
// that a client of its stream reads. The CLI is a fake that writes when it wrote; clocks of one machine agree between its processes.
// Beside it: the same bytes through nothing but a pipe.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createCommandAgent } from '#agents';
import { openSqliteStore } from '../src/engine/adapters/sqlite.ts';
import { serve } from '../src/server/adapters/node.ts';
import { quartiles } from './measure.ts';

const { values } = parseArgs({ options: { runs: { type: 'string' } } });
const runs = Number(values.runs ?? 40);
const folder = mkdtempSync(join(tmpdir(), 'parley-bench-agents-'));
const fake = join(folder, 'fake.mjs');
// It settles first: what is measured is the way of the bytes, not the start of a process.
const FAKE = `
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
await pause(150);
process.stdout.write(JSON.stringify({ text: String(performance.timeOrigin + performance.now()) }) + '\\n');
await pause(50);
`;
writeFileSync(fake, FAKE);
const now = (): number => performance.timeOrigin + performance.now();

const agent = createCommandAgent({ argv: [process.execPath, fake], output: 'ndjson' }, { cwd: folder, state: join(folder, 'state') });
const store = openSqliteStore(join(folder, 'tasks.db'));
const server = await serve(agent, { port: 0, otel: false, store });

/** Milliseconds from the CLI's write to the client's read. */
async function throughParley(run: number): Promise<number> {
  const body = JSON.stringify({ message: { messageId: `bench-${run}`, role: 'ROLE_USER', parts: [{ text: 'go' }] } });
  const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };
  const response = await fetch(`${server.url}/message:stream`, { method: 'POST', headers, body });
  let text = '';
  let took = Number.NaN;
  for await (const chunk of response.body ?? []) {
    const at = now();
    text += new TextDecoder().decode(chunk as Uint8Array);
    const written = /"assistant-response","parts":\[\{"text":"([\d.]+)"/.exec(text)?.[1];
    if (written !== undefined && Number.isNaN(took)) took = at - Number(written);
  }
  return took;
}

function throughPipe(): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [fake], { stdio: ['ignore', 'pipe', 'ignore'] });
    let took = Number.NaN;
    child.stdout.on('data', (chunk: Buffer) => {
      took = now() - Number(/[\d.]+/.exec(chunk.toString())?.[0]);
    });
    child.on('close', () => resolve(took));
  });
}

const ours: number[] = [];
const bare: number[] = [];
for (let run = 0; run < runs; run += 1) {
  ours.push(await throughParley(run));
  bare.push(await throughPipe());
}
await server.close();
rmSync(folder, { recursive: true, force: true });
console.log(`first byte of the CLI to first event at the client, ${runs} runs in turns, durable store, milliseconds: ${quartiles(ours)}`);
console.log(`the same bytes through a pipe alone: ${quartiles(bare)}`);
