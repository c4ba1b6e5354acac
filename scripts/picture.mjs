// `npm run picture`: makes docs/picture.svg, the terminal session of a real run, and docs/console.png, a screenshot of the console after it.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { ROOT } from './install.mjs';

const parley = join(ROOT, 'bin/parley');
const env = { ...process.env, HOME: mkdtempSync(join(tmpdir(), 'parley-picture-')), PARLEY_LOG: 'silent' };
// The run uses a free port; the picture shows the default port.
const server = spawn(parley, ['serve', '--memory', '--port', '0'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
process.once('exit', () => server.kill('SIGTERM')); // also after an error below
let greeting = '';
await new Promise((resolve, reject) => {
  server.once('exit', (code) => reject(new Error(`parley serve ended with ${code}`)));
  server.stdout.on('data', (bytes) => {
    greeting += bytes;
    if (greeting.includes('Ctrl-C')) resolve();
  });
});
const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(greeting)?.[1];
const run = (...args) => spawnSync(parley, args, { cwd: ROOT, env, encoding: 'utf8' }).stdout.trimEnd();
const session = [
  ['npm start', greeting.trimEnd()],
  [`bin/parley ask localhost:${port} approve --yes`, run('ask', `localhost:${port}`, 'approve', '--yes')],
  [`bin/parley doctor localhost:${port}`, run('doctor', `localhost:${port}`)],
];
await pictureConsole();
server.removeAllListeners('exit');
server.kill('SIGTERM');

const COLUMNS = 104;
const lines = session.flatMap(([command, output]) => [{ command }, ...output.split('\n').flatMap(wrap), {}]);
writeFileSync(join(ROOT, 'docs/picture.svg'), svg(lines.slice(0, -1)));

/** The task that was just approved, in every dialect. */
async function pictureConsole() {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
  if (executablePath === undefined) {
    console.error('docs/console.png is left as it is: there is no Chromium here');
    return;
  }
  const node = `http://127.0.0.1:${port}`;
  const { tasks } = await (await fetch(`${node}/tasks`, { headers: { 'A2A-Version': '1.0' } })).json();
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1180, height: 740 } });
    await page.goto(`${node}/console/wire/rosetta?task=${tasks[0].id}`);
    await page.getByRole('heading', { name: 'A2A 0.3' }).waitFor();
    await page.screenshot({ path: join(ROOT, 'docs/console.png') });
  } finally {
    await browser.close();
  }
}

function wrap(text) {
  const rows = [];
  for (let rest = text; ; rest = rest.slice(COLUMNS)) {
    rows.push({ text: rest.slice(0, COLUMNS) });
    if (rest.length <= COLUMNS) return rows;
  }
}

function svg(rows) {
  const safe = (text) => text.replaceAll(`:${port}`, ':41242').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const height = rows.length * 18 + 40;
  const body = rows.map(({ command, text = '' }, at) => {
    const words = command === undefined ? safe(text) : `<tspan fill="#7ee787">$ </tspan><tspan fill="#fff">${safe(command)}</tspan>`;
    return `<text x="20" y="${at * 18 + 32}" xml:space="preserve">${words}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="${height}" viewBox="0 0 900 ${height}" role="img" aria-label="A terminal: npm start serves an agent; it is asked, approves, and is examined">
<rect width="900" height="${height}" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.5" fill="#c9d1d9">
${body.join('\n')}
</g>
</svg>
`;
}
