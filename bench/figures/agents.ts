import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder, startParley } from '../children.ts';
import { inTurns, quartiles } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';

/** Runs of each side per round: a single run varies too much. */
const RUNS_A_ROUND = 4;

// The fake CLI waits first, so that the start of its process is not measured.
const FAKE = `
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
await pause(150);
process.stdout.write(JSON.stringify({ text: String(performance.timeOrigin + performance.now()) }) + '\\n');
await pause(50);
`;

/**
 * Measures the time from the first byte of a CLI to the first event that a client of its stream reads. The fake CLI writes the current
 * time, which works because processes of one machine share a clock. The baseline is the same bytes through a pipe alone.
 */
export async function benchAgents({ rounds }: Sizes): Promise<readonly Figure[]> {
  const folder = newFolder();
  const fake = join(folder, 'fake.mjs');
  writeFileSync(fake, FAKE);
  const serve = ['--cwd', folder, '--auth-folder', folder, '--output', 'ndjson', '--', process.execPath, fake];
  const server = await startParley([], ['--data', newFolder()], { serve });
  const token = readFileSync(join(folder, 'token'), 'utf8').trim();
  const took = await inTurns<'parley' | 'pipe'>(['parley', 'pipe'], { rounds: rounds * RUNS_A_ROUND }, (side) =>
    side === 'parley' ? throughParley(server.url, token) : throughPipe(fake),
  );
  await server.stop();
  return [
    {
      what: `first byte of a CLI to the first event at the client, durable, ${took.parley.length} runs`,
      value: `${quartiles(took.parley)} ms`,
      beside: `the same bytes through a pipe alone ${quartiles(took.pipe)} ms`,
      goal: 'p50 ≤ 5 ms',
    },
  ];
}

const now = (): number => performance.timeOrigin + performance.now();

/** Milliseconds from the CLI's write to the client's read. */
async function throughParley(url: string, token: string): Promise<number> {
  const body = JSON.stringify({ message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] } });
  const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0', Authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/message:stream`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  let text = '';
  let took = Number.NaN;
  for await (const chunk of response.body ?? []) {
    const at = now();
    text += new TextDecoder().decode(chunk as Uint8Array);
    const written = /"assistant-response","parts":\[\{"text":"([\d.]+)"/.exec(text)?.[1];
    if (written !== undefined && Number.isNaN(took)) took = at - Number(written);
  }
  if (Number.isNaN(took)) throw new Error(`the answer was not in the stream: ${text.slice(-500)}`);
  return took;
}

function throughPipe(fake: string): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [fake], { stdio: ['ignore', 'pipe', 'ignore'] });
    let took = Number.NaN;
    child.stdout.on('data', (chunk: Buffer) => {
      took = now() - Number(/[\d.]+/.exec(chunk.toString())?.[0]);
    });
    child.on('close', () => resolve(took));
  });
}
