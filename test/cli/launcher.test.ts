import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { parleyServe } from '../support/parley.ts';
import { BIN, HOME, run, start } from './run.ts';

/** Of Linux: the processes that it has started. */
function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

function isAlive(pid: number): boolean {
  try {
    // A zombie process has ended: it only waits for its parent.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const started: number[] = [];
afterAll(() => {
  for (const pid of started) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
});

function childOf(pid: number | undefined): number {
  const [child = 0] = childrenOf(pid ?? 0);
  expect(child).toBeGreaterThan(0);
  started.push(child);
  return child;
}

describe.skipIf(process.platform !== 'linux')('bin/parley, killed with SIGKILL', () => {
  it('stops its server gracefully', async () => {
    const { child, until, out } = start(['serve', 'echo', '--memory', '--port', '0', '--json']);
    const { url } = JSON.parse((await until(/"ready".*\n/)).split('\n')[0] ?? '') as { readonly url: string };
    const server = childOf(child.pid);
    child.kill('SIGKILL');
    await eventually(() => !isAlive(server));
    expect(out()).toContain('{"event":"stopped"}');
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
  });

  it('stops a waiting command', async () => {
    const server = await parleyServe({ args: ['script', '--memory'] });
    const { child, until } = start(['ask', server.url, 'chunks=500 delay=200']);
    await until(/chunk 1/);
    const asking = childOf(child.pid);
    child.kill('SIGKILL');
    await eventually(() => !isAlive(asking));
    await server.kill();
  });

  it('stops a server on pipes, even if another process holds the other end', async () => {
    const child = spawn(process.execPath, [BIN, 'serve', 'echo', '--stdio', '--memory'], { cwd: HOME, stdio: ['pipe', 'pipe', 'ignore'] });
    const line = new Promise<string>((resolve) => child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())));
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} })}\n`);
    expect(await line).toContain('"id":1');
    const server = childOf(child.pid);
    child.kill('SIGKILL');
    await eventually(() => !isAlive(server));
  });
});

const AGENT = `import { defineAgent } from 'parley-a2a/agents';
export default defineAgent({ name: 'a', description: 'An agent.', run: () => 'hello' });
`;

describe('bin/parley', () => {
  it('passes on no warning of Node about the folder that npm install has made', async () => {
    const cwd = mkdtempSync(join(HOME, 'installed-'));
    writeFileSync(join(cwd, 'package.json'), '{ "dependencies": {} }\n');
    writeFileSync(join(cwd, 'agent.ts'), AGENT);
    const { err } = await run(['serve', './agent.ts', '--store', 'postgres://parley@127.0.0.1:1/parley'], { cwd });
    expect(err).toMatch(/^Error: the database at 127/);
    expect(err).not.toContain('Warning');
  });
});
