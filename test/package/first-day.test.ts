import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pythonWith } from '../peers/install.ts';
import { runtimesFolder } from '../runtimes/install.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeModel, startFakeModel } from '../support/fake-model/server.ts';
import { expectFigure } from '../support/figures.ts';
import { suiteNeeding } from '../support/needs.ts';
import { packInto } from '../support/packed.ts';

/**
 * The first day of somebody who builds an agent: Node 22, an empty folder, an empty home, and only the packed package. Each step is a
 * command that the guides show. PARLEY_TRANSCRIPT names a file for the commands, their times and their output.
 */
const CLIENT = fileURLToPath(new URL('first-day.py', import.meta.url));
const DAY_MS_MAX = 600_000;
const runtimes = runtimesFolder();
const python = pythonWith('a2a-sdk-grpc-1.3.0', ['a2a-sdk[http-server,grpc]==1.3.0', 'uvicorn']);
const home = mkdtempSync(join(tmpdir(), 'parley-day-'));
const shop = join(home, 'shop');
const ledger = join(home, 'ledger');
const TOOL = `import { appendFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
serveStdio(() => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  server.registerTool('deploy', { description: 'Deploys the shop.' }, () => {
    appendFileSync(${JSON.stringify(ledger)}, 'deployed\\n');
    return { content: [{ type: 'text', text: 'deployed' }] };
  });
  return server;
});
`;
const begun = performance.now();
const transcript: string[] = [];
const nodes: ChildProcess[] = [];
let model: FakeModel;

function note(command: string, output: string): void {
  const at = `${((performance.now() - begun) / 1000).toFixed(0)} s`;
  transcript.push(`[${at}] $ ${command}\n${output.trimEnd()}\n`);
}

/** Node 22 comes first, and nothing of this process is passed on but how npm reaches its registry. */
function env(): NodeJS.ProcessEnv {
  const node = dirname(join(runtimes ?? '', 'node_modules/node22/bin/node'));
  const registry = Object.entries(process.env).filter(([name]) => /^npm_config_|^NODE_EXTRA_CA_CERTS$|_proxy$/i.test(name));
  return {
    NPM_CONFIG_USERCONFIG: join(homedir(), '.npmrc'),
    ...Object.fromEntries(registry),
    PATH: [node, join(shop, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
    HOME: home,
  };
}

/** Runs a command to its end. Not with spawnSync: the model is served by this process. */
async function run(command: string, { cwd = shop, code = 0 }: { readonly cwd?: string; readonly code?: number } = {}): Promise<string> {
  const child = spawn('bash', ['-c', command], { cwd, env: env(), stdio: ['ignore', 'pipe', 'pipe'] });
  nodes.push(child);
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = await new Promise<number | null>((resolve) => child.once('close', resolve));
  note(command, `${out}${err}`);
  expect(ended, `${command}\n${out}\n${err}`).toBe(code);
  return out;
}

interface Started {
  readonly url: string;
  readonly said: () => string;
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Starts a command that serves, and waits for its address. */
async function start(command: string): Promise<Started> {
  const child = spawn('bash', ['-c', `exec ${command}`], { cwd: shop, env: env(), stdio: ['ignore', 'pipe', 'pipe'] });
  nodes.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = new Promise((resolve) => child.once('close', resolve));
  await eventually(() => {
    expect(child.exitCode, said).toBeNull();
    return said.includes('Stop with Ctrl-C');
  });
  note(command, said);
  expect(said).not.toContain('Warning');
  const url = / at (http:\S+)/.exec(said)?.[1] ?? '';
  return {
    url,
    said: () => said,
    end: async (signal) => {
      child.kill(signal);
      await ended;
      note(`kill -s ${signal} NODE`, '');
    },
  };
}

const answer = <T>(text: string): T => JSON.parse(text) as T;

suiteNeeding(
  'Node 22, a package registry and Python',
  runtimes !== undefined && python !== undefined,
  'the first day with the package',
  () => {
    let tarball = '';
    beforeAll(async () => {
      const packing = join(home, 'packing');
      mkdirSync(packing);
      tarball = packInto(packing);
      model = await startFakeModel();
    }, DAY_MS_MAX);
    afterAll(async () => {
      for (const child of nodes) child.kill('SIGKILL');
      await model?.close();
      const file = process.env['PARLEY_TRANSCRIPT'];
      if (file !== undefined) writeFileSync(file, transcript.join('\n'));
      rmSync(home, { recursive: true, force: true });
    });

    it('installs the tarball on Node 22, and makes a project whose test passes', { timeout: DAY_MS_MAX }, async () => {
      const tools = join(home, 'tools');
      mkdirSync(tools);
      expect(await run('node --version', { cwd: tools })).toMatch(/^v22[.]/);
      await run(`npm install --no-audit --no-fund --loglevel=error ${tarball}`, { cwd: tools });
      expect(await run(`npx parley init ${shop}`, { cwd: tools })).toContain('Created shop');
      expect(await run('npm test')).toMatch(/pass 2/);
    });

    it('changes the agent while the node watches it', { timeout: DAY_MS_MAX }, async () => {
      const dev = await start('parley dev --port 0');
      expect(await run(`parley ask ${dev.url} "one two three"`)).toBe('3 words.\n');
      const file = join(shop, 'agent.ts');
      writeFileSync(file, readFileSync(file, 'utf8').replace(' words.', ' words, counted twice.'));
      note('sed -i "s/ words./ words, counted twice./" agent.ts', '');
      await eventually(() => dev.said().includes('is loaded again'));
      expect(await run(`parley ask ${dev.url} "one two"`)).toBe('2 words, counted twice.\n');
      await dev.end('SIGINT');
    });

    it('talks with a model in three turns, and answers its approval after kill -9', { timeout: DAY_MS_MAX }, async () => {
      writeFileSync(join(home, 'tools/tool.mjs'), TOOL);
      const serve = `parley serve llm --model fake --base-url ${model.url}/v1 --tool "mcp:node ../tools/tool.mjs" --port 0`;
      let node = await start(serve);
      const ask = async (
        text: string,
        more = '',
        code = 0,
      ): Promise<{ readonly taskId: string; readonly contextId: string; readonly text: string }> =>
        answer(await run(`parley ask ${node.url} --json ${more} '${text}'`, { code }));
      const { contextId } = await ask('the word is teapot [[say Noted.]]');
      await ask('the word is kettle [[say Noted.]]', `--context-id ${contextId}`);
      expect((await ask('[[recall]]', `--context-id ${contextId}`)).text).toBe('I remember teapot, kettle.');
      const { taskId } = await ask('[[call deploy]] [[say The shop is deployed.]]', `--context-id ${contextId}`, 6);
      await node.end('SIGKILL');
      expect(existsSync(ledger)).toBe(false);
      node = await start(serve);
      expect((await ask('allow', `--task-id ${taskId}`)).text).toContain('The shop is deployed.');
      expect(readFileSync(ledger, 'utf8')).toBe('deployed\n');
      await node.end('SIGINT');
    });

    it('is called from Python, with the official SDK', { timeout: DAY_MS_MAX }, async () => {
      const node = await start('parley serve ./agent.ts --port 0');
      expect(await run(`${python} ${CLIENT} ${node.url} "one two three four"`)).toBe('4 words, counted twice.\n');
      await node.end('SIGTERM');
      const seconds = (performance.now() - begun) / 1000;
      transcript.push(`The day took ${seconds.toFixed(0)} seconds.\n`);
      expectFigure(seconds, { below: 600 });
    });
  },
);
