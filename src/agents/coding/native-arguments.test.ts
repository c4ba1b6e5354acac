import { describe, expect, it } from 'vitest';
import { createUserMessage } from '#protocol';
import type { Job } from '../run/driver.ts';
import { claude } from './claude.ts';
import { codexExec } from './codex-exec.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { vibe } from './vibe.ts';

const EVIL = '--evil=1';
const job: Job = {
  ...{ message: createUserMessage(EVIL), prompt: EVIL, session: EVIL, folder: '/work', settings: {} },
  ...{ isPermissive: false, mayEdit: false, isTrusted: false, signal: AbortSignal.abort() },
  start: () => {
    throw new Error('starts nothing');
  },
  keepSession: async () => {},
};

describe.each([claude, codexExec, copilot, cursor, gemini, opencode, vibe])('$name in print mode', (adapter) => {
  it('gets no option from a message or a session', () => {
    const { argv, input = '' } = adapter.launch(job);
    const end = argv.indexOf('--');
    expect((end === -1 ? argv : argv.slice(0, end)).filter((argument) => argument.startsWith(EVIL))).toEqual([]);
    expect(`${argv.join(' ')} ${input}`).toContain(EVIL);
  });
});
