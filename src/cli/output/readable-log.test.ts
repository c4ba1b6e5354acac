import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createLog } from '#server';
import { readableLog } from './readable-log.ts';

const cwd = mkdtempSync(join(tmpdir(), 'parley-log-'));
afterAll(() => rmSync(cwd, { recursive: true }));
const at = new Date(2026, 0, 2, 3, 4, 5);

function said(write: (log: ReturnType<typeof createLog>) => void, coloured = false): string {
  const lines: string[] = [];
  write(createLog({ write: (line) => lines.push(line), format: readableLog({ coloured, cwd }), now: () => at, secrets: ['hunter2'] }));
  return lines.join('');
}

describe('a log on a terminal', () => {
  it('shows the time of day, the message and its facts', () => {
    expect(said((log) => log.info('recovered tasks', { resumed: 2, by: 'demo' }))).toBe('03:04:05  recovered tasks resumed=2 by=demo\n');
    expect(said((log) => log.warn('few files'))).toBe('03:04:05  warning few files\n');
  });

  it('shows a call as one line', () => {
    const call = { who: 'local', dialect: 'v03', operation: 'stream', agent: 'echo', outcome: 'ok', state: 'completed', ms: 12 };
    expect(said((log) => log.info('call', call))).toBe('03:04:05  local    v03      stream    echo         completed 12 ms\n');
    expect(said((log) => log.info('call', { ...call, outcome: 'TASK_NOT_FOUND' }))).toContain(' TASK_NOT_FOUND 12 ms');
  });

  it('shows the line of the user’s file, without frames of Node, of packages and of Parley', () => {
    const file = join(cwd, 'agent.ts');
    writeFileSync(file, "one\n  throw new Error('no');\n");
    const error = new Error('no');
    error.stack = [
      'Error: no',
      `    at run (file://${file}?generation=4:2:9)`,
      `    at next (${new URL('../../engine/turns/run.ts', import.meta.url).pathname}:3:3)`,
      '    at node:internal/timers:5:5',
      '    at x (/a/node_modules/y/index.js:1:1)',
    ].join('\n');
    expect(said((log) => log.error('agent a failed', error))).toBe(
      "03:04:05  error agent a failed\n  Error: no\n    2 | throw new Error('no');\n      at run (agent.ts:2:9)\n",
    );
  });

  it('names the place of a syntax error', () => {
    const file = join(cwd, 'wrong.ts');
    writeFileSync(file, 'const x = ;\n');
    const error = new SyntaxError('Expression expected');
    error.stack = `file://${file}?generation=2:1\nconst x = ;\n\nSyntaxError: Expression expected\n    at node:internal/x:1:1`;
    expect(said((log) => log.error('broken', error))).toContain(
      'SyntaxError: Expression expected\n    1 | const x = ;\n      at wrong.ts:1:1\n',
    );
  });

  it('never shows secrets, and no control characters', () => {
    const text = said((log) => log.error('failed', new Error('key hunter2 \u001b[2J')), true);
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('\u001b[2J');
    expect(text).toContain('\u001b[31m');
  });
});
