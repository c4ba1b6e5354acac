import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '#protocol';
import { startFakeModel } from '../support/fake-model/server.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { CLIS } from './clis.ts';
import type { Talk } from './talk.ts';
import { talkTo } from './talk.ts';

/**
 * Real coding CLIs from npm, each against the fake model, through `parley serve`. They are installed once, into .cache/agents; each test has a
 * folder and each launch a home of its own. `npm run e2e:agents [NAME…]`.
 */
const ROOT = resolve(import.meta.dirname, '../..');
const CACHE = join(ROOT, '.cache/agents');
const wanted = (process.env['PARLEY_E2E'] ?? '').split(',').filter((name) => name !== '');
const chosen = wanted.length === 0 ? CLIS : CLIS.filter(({ name }) => wanted.includes(name));
/** Its last text. Codex first warns, as part of its answer, that it does not know the model. */
const textOf = (task: JsonObject): string =>
  ((task['artifacts'] ?? []) as { artifactId: string; parts: { text?: string }[] }[])
    .filter(({ artifactId }) => artifactId === 'assistant-response')
    .flatMap(({ parts }) => parts.map(({ text }) => text ?? ''))
    .join('')
    .replace(/^Warning: Model metadata .*\n\n/, '');
const stateOf = (task: JsonObject): string => String((task['status'] as JsonObject | undefined)?.['state']).replace('TASK_STATE_', '');

const idIn = ([first]: readonly JsonObject[]): string => String((first?.['task'] as JsonObject | undefined)?.['id']);

describe.each(chosen)('$name', ({ name, packages, launches, settings }) => {
  const folder = join(CACHE, name);
  beforeAll(() => {
    mkdirSync(folder, { recursive: true });
    if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
    const missing = packages.filter((one) => !existsSync(join(folder, 'node_modules', one)));
    if (missing.length > 0)
      execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...missing], { cwd: folder, stdio: 'inherit' });
  }, 300_000);
  const version = (): string => {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'node_modules', packages[0] ?? '', 'package.json'), 'utf8'));
    return String((manifest as { version: string }).version);
  };

  describe.each(launches)('$agent', ({ agent, via, asks, streams }) => {
    const home = join(CACHE, 'homes', agent.replace(':', '-'));
    const can: Record<string, string> = {};
    let model: Awaited<ReturnType<typeof startFakeModel>>;
    let parley: Parley;
    let talk: Talk;
    let work: string;
    const env = (): Record<string, string> => ({
      ...settings({ model: model.url, home }),
      HOME: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      PATH: `${join(folder, 'node_modules/.bin')}:${process.env['PATH']}`,
    });
    const start = async (): Promise<void> => {
      const variables = Object.keys(settings({ model: model.url, home })).flatMap((variable) => ['--pass-env', variable]);
      const args = [agent, '--cwd', work, '--data', join(home, 'data'), ...variables, '--rule', 'allow:edit'];
      parley = await parleyServe({ args, env: env() });
      talk = talkTo(parley.url, tokenOf(home));
    };
    beforeAll(async () => {
      rmSync(home, { recursive: true, force: true });
      mkdirSync(home, { recursive: true });
      work = mkdtempSync(join(home, 'work-'));
      execFileSync('git', ['init', '-q', work]);
      model = await startFakeModel();
      await start();
    });
    afterAll(async () => {
      await parley?.stop();
      await model?.close();
      keep({ [agent]: { cli: name, version: version(), via, ...can } });
    });
    afterEach(({ task }) => {
      const passed = task.name === 'streamed answer' && !streams ? 'whole' : 'yes';
      can[task.name] = task.result?.state === 'pass' ? passed : 'no';
    });

    test('streamed answer', async () => {
      let chunks = 0;
      const events = await talk.stream('Please [[say one two three four five]]', (event) => {
        if (event['artifactUpdate'] !== undefined && JSON.stringify(event).includes('assistant-response')) chunks += 1;
        return undefined;
      });
      const task = await talk.get(idIn(events));
      expect(textOf(task)).toBe('one two three four five');
      expect(stateOf(task)).toBe('COMPLETED');
      expect(chunks > 1, `${chunks} pieces`).toBe(streams);
    });

    test('file edit', async () => {
      const file = join(work, 'made.txt');
      const task = await talk.send(`Please [[write ${file}|made by ${agent}\n]] [[say I wrote it.]]`);
      expect(stateOf(task), JSON.stringify(task['status'])).toBe('COMPLETED');
      expect(readFileSync(file, 'utf8')).toBe(`made by ${agent}\n`);
      expect(JSON.stringify(task['artifacts'])).toContain('made.txt');
    });

    test.skipIf(!asks)(
      'approval allowed',
      async () => {
        const file = join(work, 'allowed');
        const waiting = await talk.send(`Please [[run touch ${file}]] [[say Done.]]`);
        expect(stateOf(waiting)).toBe('INPUT_REQUIRED');
        expect(JSON.stringify((waiting['status'] as JsonObject)['message'])).toContain(`touch ${file}`);
        expect(existsSync(file)).toBe(false);
        const done = await talk.send('y', { taskId: waiting['id'] ?? null });
        expect(stateOf(done)).toBe('COMPLETED');
        expect(existsSync(file)).toBe(true);
      },
      120_000,
    );

    test.skipIf(!asks)(
      'approval denied',
      async () => {
        const file = join(work, 'denied');
        const waiting = await talk.send(`Please [[run touch ${file}]] [[say Done.]]`);
        expect(stateOf(waiting)).toBe('INPUT_REQUIRED');
        const over = await talk.send('n', { taskId: waiting['id'] ?? null });
        expect(stateOf(over)).not.toBe('INPUT_REQUIRED');
        expect(existsSync(file)).toBe(false);
      },
      120_000,
    );

    test('cancel mid-run', async () => {
      let id = '';
      const over = talk.stream('Please [[mumble 2000|25]]', (event) => {
        id ||= idIn([event]);
        return undefined;
      });
      await expect.poll(() => model.speaking).toBeGreaterThan(0);
      if (streams) await expect.poll(async () => textOf(await talk.get(id))).toContain('word 1');
      const began = performance.now();
      expect(stateOf(await talk.cancel(id))).toBe('CANCELED');
      await expect.poll(() => programs(folder, home), { timeout: 5000 - (performance.now() - began) }).toEqual([]);
      expect(JSON.stringify((await over).at(-1))).toContain('CANCELED');
    });

    test('session after restart', async () => {
      const first = await talk.send('Remember: the word is pineapple. [[say I will.]]');
      expect(stateOf(first), JSON.stringify(first['status'])).toBe('COMPLETED');
      expect(await parley.stop()).toBe(0);
      await start();
      for (const words of ['What was it?', 'And now?']) {
        const next = await talk.send(`${words} [[recall]]`, { contextId: first['contextId'] ?? null });
        expect(textOf(next), JSON.stringify(next['history'])).toBe('I remember pineapple.');
      }
    }, 180_000);
  });
});

type Results = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Keeps the results of earlier runs for other CLIs: docs/coding-agents.md is generated from all of them. */
function keep(found: Results): void {
  const file = join(CACHE, 'results.json');
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {};
  writeFileSync(file, `${JSON.stringify({ ...before, ...found }, null, 2)}\n`);
}

/** The running processes of a CLI, without those of another test. */
function programs(folder: string, home: string): readonly string[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes(folder) && !line.includes('parley') && !line.includes(join(home, 'data')));
}

/** An agent that runs commands requires a token even on loopback. The node has created one for its user (docs/security.md). */
function tokenOf(home: string): string {
  return readFileSync(join(home, 'config/parley/token'), 'utf8').trim();
}
