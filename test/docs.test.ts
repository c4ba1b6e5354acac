import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { programOf } from './support/brokers.ts';
import { freePort } from './support/free-port.ts';

/**
 * Runs every code block of README, CONTRIBUTING and docs/, except `text` blocks and the guides, which test/guides.test.ts follows. A block that starts with `sh needs=mosquitto` is skipped if
 * that program is missing.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(ROOT, '.docs-'));
afterAll(() => rmSync(scratch, { recursive: true }));

interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly code: string;
  readonly needs: string | undefined;
}

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md'));
const blocks = pages.filter((page) => !page.startsWith('docs/guides/')).flatMap(blocksOf);

/** A block may start a server and call it many times. */
const BLOCK_MS = 120_000;

describe('code blocks of the documentation', () => {
  it('are found', () => expect(blocks.length).toBeGreaterThan(8));
  for (const block of blocks) {
    const { page, line, language, needs } = block;
    const isMissing = needs !== undefined && programOf(needs) === undefined;
    it.skipIf(isMissing)(`${page}:${line} (${language})${isMissing ? ` [needs ${needs}]` : ''}`, () => check(block), BLOCK_MS);
  }
});

describe('links between pages', () => {
  for (const page of pages) {
    it(page, () => {
      const text = readFileSync(join(ROOT, page), 'utf8');
      const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map((match) => match[1] ?? '');
      for (const target of targets) statSync(join(ROOT, page, '..', target));
    });
  }
});

async function check(block: Block): Promise<void> {
  switch (block.language) {
    case 'text':
      return;
    case 'json':
      JSON.parse(block.code);
      return;
    case 'sh':
      await checkShell(block.code);
      return;
    case 'ts':
      checkTypeScript(block);
      return;
    default:
      throw new Error(`${block.page}:${block.line}: unknown language "${block.language}"`);
  }
}

const PORTS = /\b[24]1\d{3}\b/g;
/** Of a node that is started without `--port`. */
const DEFAULT_PORT = '41242';

/** The block with other ports, and the one that replaces the default: those in the text may be taken, by a server or for an outgoing connection. */
async function onFreePorts(code: string): Promise<{ readonly code: string; readonly port: string }> {
  const port = String(await freePort());
  const others = new Map([[DEFAULT_PORT, port]]);
  for (const [named] of code.matchAll(PORTS)) if (!others.has(named)) others.set(named, String(await freePort()));
  return { code: code.replaceAll(PORTS, (named) => others.get(named) ?? named), port };
}

/** Lines that start npm scripts are not run, because some of them would run these tests again. It checks that the scripts exist. */
async function checkShell(code: string): Promise<void> {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  const rest = code.split('\n').filter((line) => {
    const script = /^npm (?:run )?([\w:-]+)/.exec(line)?.[1];
    if (script === undefined || script === 'install' || script === 'ci') return script === undefined;
    expect(Object.keys(scripts), line).toContain(script);
    return false;
  });
  const { code: script, port: PORT } = await onFreePorts(rest.join('\n').trim());
  if (script === '') return;
  // Debian installs servers into /usr/sbin, which is not in every PATH.
  const PATH = [join(ROOT, 'bin'), join(ROOT, 'node_modules/.bin'), process.env['PATH'], '/usr/sbin'].join(delimiter);
  // A configuration folder for each block: a program that one block serves does not make the files of the next one new.
  const XDG_CONFIG_HOME = mkdtempSync(join(process.env['XDG_CONFIG_HOME'] ?? scratch, 'block-'));
  const env = {
    ...{ NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/parley'), ...process.env, PATH },
    ...{ XDG_CONFIG_HOME, XDG_DATA_HOME: join(XDG_CONFIG_HOME, 'data'), PORT },
  };
  const options = { cwd: ROOT, env };
  if (SERVES.test(script)) {
    await checkServer(script, options);
    return;
  }
  const run = spawnSync('bash', ['-euo', 'pipefail', '-c', script], { ...options, encoding: 'utf8', timeout: 110_000 });
  expect(run.status, `${run.stdout}\n${run.stderr}`).toBe(0);
  expect(run.error, 'a process that the block started is still running').toBeUndefined();
}

/** One command that serves until it is stopped, perhaps with variables before it. */
const SERVES = /^(?:\w+=\S+ )*parley serve\b[^\n|;&]*$/;

/** Waits until the server prints its address, stops it as with Ctrl-C, and expects exit code 0. */
async function checkServer(command: string, options: object): Promise<void> {
  const server = spawn('bash', ['-c', `exec env ${command}`], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  let isStopped = false;
  const ended = new Promise<number | null>((resolve) => server.on('close', (code) => resolve(code)));
  server.stderr.on('data', (text: Buffer) => {
    said += text.toString();
  });
  server.stdout.on('data', (text: Buffer) => {
    said += text.toString();
    if (said.includes('http://') && !isStopped) isStopped = server.kill('SIGINT'); // a second one would end it at once
  });
  try {
    expect(await ended, said).toBe(0);
    expect(said).toContain('http://');
  } finally {
    server.kill('SIGKILL');
  }
}

function checkTypeScript(block: Block): void {
  const file = join(scratch, `${block.page.replaceAll(/\W/g, '-')}-${block.line}.ts`);
  writeFileSync(file, block.code);
  const run = spawnSync(process.execPath, ['--conditions=our-src', file], { encoding: 'utf8', cwd: ROOT, timeout: 110_000 });
  expect(run.status, run.stderr).toBe(0);
  expect(run.stderr).not.toContain('Assertion failed');
}

function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```(\w*)(?: needs=([\w-]+))?\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    needs: match[2],
    code: match[3] ?? '',
  }));
}
