// `npm run picture`: makes the moving pictures of the README from a real run. docs/picture.svg is a terminal: a question of an agent is
// answered after the node was killed. docs/console.svg shows the console, and docs/console-page.svg one of its pages.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './install.mjs';
import { consolePictures } from './picture/console.mjs';
import { terminalSvg } from './picture/terminal.mjs';

const parley = join(ROOT, 'bin/parley');
const home = mkdtempSync(join(tmpdir(), 'parley-picture-'));
const env = { ...process.env, HOME: home, XDG_DATA_HOME: join(home, 'data'), XDG_CONFIG_HOME: join(home, 'config'), PARLEY_LOG: 'silent' };
process.once('exit', () => rmSync(home, { recursive: true, force: true }));

/** Serves the demo agent. The first start takes a free port, the second one the same. The pictures show the default port. */
async function serve(port) {
  const args = ['serve', '--data', join(home, 'tasks'), '--port', port];
  const server = spawn(parley, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  process.once('exit', () => server.kill('SIGTERM')); // also after an error below
  let said = '';
  await new Promise((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`parley serve ended with ${code}`)));
    server.stdout.on('data', (bytes) => {
      said += bytes;
      if (said.includes('Ctrl-C')) resolve();
    });
  });
  server.removeAllListeners('exit');
  return { server, said, port: /http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1] ?? '' };
}

const run = (...args) => {
  const { stdout, stderr } = spawnSync(parley, args, { cwd: ROOT, env, encoding: 'utf8', input: '' });
  return `${stdout}${stderr}`.trimEnd();
};

const first = await serve('0');
const { port } = first;
const asked = run('ask', `localhost:${port}`, 'approve');
const task = /--task-id (\S+)/.exec(asked)?.[1] ?? '';
await killed(first.server);
const second = await serve(port);
const answered = run('ask', `localhost:${port}`, '--task-id', task, 'yes');
const tidy = (text) => text.replaceAll(`:${port}`, ':41242').replaceAll(task, '0mwi…');
const steps = [
  { comment: 'An agent, and its console' },
  { command: 'npm start', output: first.said.split('\n').slice(0, 2).join('\n') },
  { comment: 'In another terminal: it asks before it acts' },
  { command: 'bin/parley ask localhost:41242 approve', output: asked },
  { comment: 'Kill the node, and start it again' },
  { command: 'kill -9 %1' },
  { command: 'npm start', output: second.said.split('\n')[0] },
  { comment: 'The question is still there. Answer it' },
  { command: `bin/parley ask localhost:41242 --task-id ${task} yes`, output: answered },
];
writeFileSync(
  join(ROOT, 'docs/picture.svg'),
  terminalSvg(
    steps.map((step) => Object.fromEntries(Object.entries(step).map(([name, text]) => [name, tidy(text)]))),
    'A terminal: an agent asks for approval, its node is killed and started again, and the question is answered',
  ),
);
await consolePictures(`http://127.0.0.1:${port}`, join(ROOT, 'docs'));
second.server.kill('SIGTERM');

/** Kills bin/parley and the node behind it, which are a process group. */
async function killed(server) {
  const ended = new Promise((resolve) => server.once('close', resolve));
  process.kill(-server.pid, 'SIGKILL');
  await ended;
}
