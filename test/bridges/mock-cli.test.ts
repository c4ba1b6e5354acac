import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { sendInit, sendTask, textOf } from '../faults/client.ts';
import { startParley } from '../faults/parley.ts';
import type { Child } from '../support/processes.ts';
import { startNode } from '../support/processes.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'parley-mock-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RULES = `
name: Research mock
card:
  description: Answers like the real one.
responses:
  - skill: search
    match: { contains: quantum }
    response: { parts: [{ text: three papers }, { data: { count: 3 } }] }
  - match: { regex: "^boom" }
    error: broken
  - stream: [a, b, c]
    delay: 5
`;

async function started(args: readonly string[]): Promise<Child & { readonly url: string }> {
  const child = startNode([MAIN, ...args, '--memory', '--json', '--port', '0']);
  await child.said('{"event":"ready"');
  return { ...child, url: (JSON.parse(child.lines()[0] ?? '') as { url: string }).url };
}

async function stopped(child: Child): Promise<void> {
  child.process.kill('SIGTERM');
  expect((await child.ended).code).toBe(0);
}

function parley(...args: string[]) {
  const run = spawnSync(process.execPath, ['--conditions=our-src', MAIN, ...args], { encoding: 'utf8', timeout: 50_000 });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

describe('parley mock', () => {
  it('serves rules from YAML in every dialect', async () => {
    const path = join(folder, 'rules.yaml');
    writeFileSync(path, RULES);
    const mock = await started(['mock', path]);
    const response = await fetch(`${mock.url}/a2a`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'message/send' },
        params: { message: { role: 'user', parts: [{ text: 'Quantum?' }], messageId: 'm', metadata: { skillId: 'search' } } },
      }),
    });
    expect(JSON.stringify(await response.json())).toContain('three papers');
    expect(textOf(await sendTask(mock.url, 'anything'))).toBe('abc');
    expect((await sendTask(mock.url, 'boom now')).status.state).toBe('TASK_STATE_FAILED');
    await stopped(mock);
  });

  it('plays a recording of parley proxy without the real agent', async () => {
    const record = join(folder, 'talk.jsonl');
    const real = await startParley({});
    const proxy = await started(['proxy', real.url, '--record', record]);
    for (const text of ['chunks=3', 'fail']) await (await fetch(`${proxy.url}/message:stream`, sendInit(text))).text();
    await stopped(proxy);
    await real.stop();
    expect(readFileSync(record, 'utf8').trim().split('\n')).toHaveLength(2);
    const mock = await started(['mock', record]);
    expect(textOf(await sendTask(mock.url, 'chunks=3'))).toBe('chunk 1chunk 2chunk 3');
    expect((await sendTask(mock.url, 'fail')).status.state).toBe('TASK_STATE_FAILED');
    expect((await sendTask(mock.url, 'unheard of')).status.state).toBe('TASK_STATE_REJECTED');
    await stopped(mock);
  });

  it.each([
    ['responses: 7', 'responses must be a list of rules'],
    ['responses: [{ txt: hi }]', 'responses[0]: there is no txt; known: skill, match'],
    ['responses: [{ match: { contain: x }, text: hi }]', 'responses[0].match: there is no contain; known: contains, regex, equals'],
    ['responses: [{ match: { regex: "(" }, text: hi }]', 'responses[0] match.regex'],
    ['responses: [{ response: hi }]', 'responses[0].response must be { parts: [{ text: … }] }'],
    ['- : :', 'rules'],
  ])('reports the problem in %s', (rules, words) => {
    const path = join(folder, 'bad-rules.yaml');
    writeFileSync(path, rules);
    const { code, err } = parley('mock', path);
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  });
});

describe('wrong calls', () => {
  it.each([
    [['mock'], 2, 'FILE is missing'],
    [['mock', 'nowhere.yaml'], 2, 'there is no file nowhere.yaml'],
    [['mock', 'x.yaml', '--pace', 'fast'], 2, '--pace fast: must be a number from 0 on'],
    [['proxy'], 2, 'URL is missing'],
    [['proxy', 'nonsense'], 2, 'nonsense is no address, and no agent of that name is configured'],
    [['proxy', 'http://127.0.0.1:9', '--trust-keys', 'no.json'], 2, '--trust-keys no.json'],
    [['proxy', 'http://127.0.0.1:9', '--header', 'nocolon'], 2, "must be 'Name: value'"],
    [['proxy', 'http://127.0.0.1:9', '--nmae', 'x'], 2, 'has no flag --nmae'],
    [['mcp'], 2, 'URL is missing'],
    [['mcp', 'http://127.0.0.1:9', '--naming', 'camel'], 2, "--naming can't be camel"],
    [['mcp', 'http://127.0.0.1:9', '--htpp'], 2, 'has no flag --htpp'],
    [['mcp', 'http://127.0.0.1:9', '--port'], 2, '--port needs a value'],
  ] as const)('%j', (args, code, words) => {
    const run = parley(...args);
    expect([run.code, run.err]).toEqual([code, expect.stringContaining(words)]);
  });
});
