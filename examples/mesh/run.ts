// node --conditions=our-src examples/mesh/run.ts mqtt://127.0.0.1:1883
// Three processes on one broker: an orchestrator and two workers, one of which is killed while it works, and started again.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const broker = process.argv[2] ?? 'mqtt://127.0.0.1:1883';
const parley = fileURLToPath(new URL('../../bin/parley', import.meta.url));
const data = mkdtempSync(join(tmpdir(), 'parley-example-'));
const running = new Map<string, ChildProcess>();

/** `parley serve` for one of the files beside this one; resolves with its address. */
async function start(name: string): Promise<string> {
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const args = ['serve', file, '--port', '0', '--json', '--data', join(data, name), '--mesh', broker];
  const child = spawn(process.execPath, [parley, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env: { ...process.env, PARLEY_MESH: broker, PARLEY_LOG: 'error' },
  });
  running.set(name, child);
  const [first] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [Buffer | number | null];
  if (!Buffer.isBuffer(first)) throw new Error(`${name} did not start; does a broker run at ${broker}?`);
  return (JSON.parse(first.toString().split('\n')[0] ?? '') as { url: string }).url;
}

/** Signals the whole process group, because `parley` in a checkout starts another Node. */
function kill(name: string): void {
  const pid = running.get(name)?.pid;
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // the process has ended
  }
}

try {
  const url = await start('orchestrator'); // first, so that it receives the announcements of the others
  await Promise.all(['researcher', 'writer'].map(start));
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'bees' }] };
  const answer = fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
    body: JSON.stringify({ message }),
  });
  await sleep(1000);
  console.log('the researcher is at work; killing it');
  kill('researcher');
  await sleep(500);
  await start('researcher');
  console.log('the researcher is back');
  const { task } = (await (await answer).json()) as { task?: { artifacts?: { parts: { text?: string }[] }[] } };
  console.log((task?.artifacts ?? []).flatMap(({ parts }) => parts.map(({ text }) => text ?? '')).join(''));
} finally {
  for (const name of running.keys()) kill(name);
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
}
