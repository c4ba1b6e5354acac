import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtInAgents } from '#agents';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { suiteNeeding } from '../support/needs.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startServer } from '../support/server.ts';
import { HAS_PYTHON, terminalIn } from './on-terminal.ts';
import { begun, run } from './run.ts';

let node: NodeServer;
beforeAll(async () => {
  const demo = builtInAgents.get('demo')?.create();
  if (demo === undefined) throw new Error('there is no demo agent');
  node = await startServer({ agents: [demo] });
});
afterAll(() => node.close());

describe('the address of an agent', () => {
  it('is the first word of every command that takes one', async () => {
    const { task } = await begun(node.url, 'approve');
    const calls: readonly (readonly string[])[] = [
      ['card', node.url],
      ['card', 'get', node.url],
      ['card', 'skills', node.url],
      ['task', node.url],
      ['task', 'list', node.url],
      ['task', 'get', node.url, task],
      ['task', 'subscribe', node.url, task],
      ['task', 'push-config', 'list', node.url, task],
      ['task', 'cancel', node.url, task],
    ];
    for (const call of calls) expect(await run(call), call.join(' ')).toMatchObject({ code: 0 });
    const push = await run(['push', 'ls', node.url]);
    expect([push.code, push.err]).toEqual([0, '']);
    expect((await run(['push', 'ls', '-a', node.url])).code).toBe(0);
  });

  it('can be given only once, and does not replace another word', async () => {
    expect((await run(['task', 'list', node.url, '-a', node.url])).code).toBe(2);
    expect((await run(['task', 'get', node.url])).err).toMatch(/TASK|agent/);
    expect((await run(['card', 'gte', node.url])).err).toContain('did you mean get');
  });
});

const folder = scratchFolder();
const onTerminal = terminalIn(folder, '1');

suiteNeeding('python3', HAS_PYTHON, 'on a terminal', () => {
  it('task list shows a task in one line', async () => {
    const { task } = await begun(node.url, 'about');
    const { out } = await onTerminal(['task', 'list', node.url]);
    expect(out).toMatch(new RegExp(`^\\d\\d:\\d\\d  demo  \\S+ +about .*${task}`, 'm'));
  });

  it('a chat has /help, /tasks and /save, and says which files it can save', async () => {
    const steps = ['> ', '/help\\r', '/quit +leaves[\\s\\S]*> ', 'file\\r', '/save writes this file[\\s\\S]*> ', '/save out\\r'];
    const more = ['wrote out[\\s\\S]*> ', '/tasks\\r', 'completed[\\s\\S]*> ', '/new\\r', 'new context[\\s\\S]*> ', '/quit\\r'];
    const { out } = await onTerminal(['chat', node.url], ...steps, ...more);
    expect(out).toContain('/save writes this file into this folder');
    expect(out).toMatch(/\d\d:\d\d {2}demo {2}completed +file/);
    expect(existsSync(join(folder, 'out/hello.md'))).toBe(true);
  });

  it('a chat says once that a task was canceled', async () => {
    const { out } = await onTerminal(
      ['chat', node.url],
      '> ',
      'slow\\r',
      'Step 1 of',
      '\\x03',
      'The task was canceled[\\s\\S]*> ',
      '/quit\\r',
    );
    const lines = out.replaceAll('\u001b[K', '\n').split(/[\r\n]+/);
    expect(lines.filter((line) => line === 'The task was canceled.')).toHaveLength(1);
    expect(lines).not.toContain('canceled');
  });
});
