import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/**
 * Society's own server, whose backend is a program of ours: `program-server.ts SOCIETY PORT`. Its threads are in a home folder of their own. Prints
 * `ready` when it accepts requests.
 */
const [society = '', port = ''] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), 'society-home-'));
const config = join(home, 'agent.yaml');
const backend = fileURLToPath(new URL('backend.ts', import.meta.url));
const args = ['--disable-warning=ExperimentalWarning', backend, join(home, 'memory')];
writeFileSync(
  config,
  [
    'name: peer-test',
    'description: The test agent of test/peers on Society.',
    `port: ${port}`,
    'handler: exec',
    'backend:',
    `  command: ${process.execPath}`,
    `  args: ${JSON.stringify(args)}`,
    '  session_flag: "--session-id"',
    '  resume_flag: "--resume"',
    'skills:',
    '  - id: talk',
    '    name: Talk',
    '',
  ].join('\n'),
);

const child = spawn(society, ['run', '--config', config], { env: { ...process.env, HOME: home }, stdio: ['ignore', 'ignore', 'inherit'] });
const stop = (): void => {
  child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
  process.exit(0);
};
process.on('SIGTERM', stop);
child.on('exit', stop);

while (!(await isUp())) await sleep(100);
process.stdout.write('ready\n');

async function isUp(): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`)).ok;
  } catch {
    return false;
  }
}
