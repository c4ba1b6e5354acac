import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import type { Conversation } from '../conversations.ts';
import { must, whole } from '../conversations.ts';
import { ourTalk } from '../our-talk.ts';
import type { Reply, Talk } from '../talk.ts';
import type { Printed } from './player.ts';

/** Runs `society ARGS` with this standard input. */
export type Society = (args: readonly string[], input?: string) => Promise<Printed>;

/** A person with Society's command line. The thread is all that it knows of a task or a context. */
export interface SocietyTalk extends Talk {
  readonly run: Society;
}

const NAME = 'peer-test';
// biome-ignore lint/suspicious/noControlCharactersInRegex: the real program colors its output
const COLORS = /\u001b\[[0-9;]*m/g;

export async function societyTalk(url: string, society: Society): Promise<SocietyTalk> {
  const run: Society = async (args, input) => {
    const { out, code } = await society(args, input);
    return { out: out.replaceAll(COLORS, ''), code };
  };
  const found = await run(['discover', url], 'y\nhttp\n');
  assert.match(found.out, /Added "peer-test"/);
  const none = (): never => {
    throw new Error('Society has no such call');
  };
  return {
    run,
    joinsText: true,
    send: async ({ text, contextId, taskId }) => {
      const thread = taskId ?? contextId;
      return printedReply(await run(['send', NAME, text, ...(thread === undefined ? [] : ['--thread', thread])]));
    },
    stream: none,
    begin: none,
    get: none,
    cancel: none,
    close: async () => {},
  };
}

/** What a person reads: the lines above the thread, and a failure. */
function printedReply({ out, code }: Printed): Reply {
  if (code !== 0) throw new Error(out);
  const thread = must(/^thread: (.*)$/m.exec(out)?.[1], `a thread in: ${out}`);
  const failure = /^✗ (.*)$/m.exec(out)?.[1];
  const text = out.replace(/^(thread: |✗ ).*$/gm, '').trim();
  return {
    taskId: thread,
    contextId: thread,
    state: failure === undefined ? 'completed' : 'failed',
    texts: [text],
    files: [],
    data: [],
    ...(failure === undefined ? {} : { note: failure }),
  };
}

export const EXCEPT: Readonly<Record<string, string>> = {
  chunks: 'has no streams',
  question: 'prints no states',
  approval: 'has no streams',
  parts: 'sends text only',
  cancel: 'has no cancel',
  unknown: 'has no get',
  list: 'has no list',
  restart: 'has no get',
};

export const SLOW_THREAD: Conversation<SocietyTalk> = {
  id: 'slow',
  title: 'two answers of 45 s, side by side: the thread comes before the timeout of 30 s, and then the answer',
  run: async (talk) => {
    const first = await talk.send({ text: 'slow 45' });
    assert.match(whole(first), /^still working/);
    const second = await talk.send({ text: 'hello', contextId: must(first.contextId, 'the answer names its thread') });
    assert.match(whole(second), /^waited 45 s/);
  },
};

export const ALSO: readonly Conversation<SocietyTalk>[] = [
  {
    id: 'society-list',
    title: 'discover, list and ping',
    run: async ({ run }) => {
      assert.match((await run(['list'])).out, /peer-test +http +http:/);
      assert.match((await run(['ping', NAME])).out, /✓ peer-test is responding/);
    },
  },
  {
    id: 'society-chunks',
    title: 'an answer that the agent wrote in 20 chunks is printed as one line',
    run: async (talk) => {
      const reply = await talk.send({ text: 'chunks 20' });
      assert.equal(whole(reply), Array.from({ length: 20 }, (_, at) => at + 1).join(' '));
    },
  },
  {
    id: 'society-question',
    title: 'a question is printed, and answered in its thread',
    run: async (talk) => {
      const asked = await talk.send({ text: 'question' });
      assert.equal(whole(asked), 'Which color?');
      const done = await talk.send({ text: 'green', contextId: must(asked.contextId, 'the question has a thread') });
      assert.match(whole(done), /You chose green\.$/);
    },
  },
  {
    id: 'society-approval',
    title: 'an approval in the middle of an answer is printed, and given in its thread',
    run: async (talk) => {
      const asked = await talk.send({ text: 'approve' });
      assert.match(whole(asked), /Delete 3 files\?/);
      const thread = must(asked.contextId, 'the question has a thread');
      assert.match(whole(await talk.send({ text: 'perhaps', contextId: thread })), /Delete 3 files\?/);
      assert.match(whole(await talk.send({ text: 'allow', contextId: thread })), /before after allow$/);
    },
  },
  {
    id: 'society-restart',
    title: 'an agent that is killed in the middle and restarted finishes its answer in the same thread',
    run: async (talk, { url = '', restart }) => {
      const thread = crypto.randomUUID();
      const ours = await ourTalk(url, true);
      const torn = talk.run(['send', NAME, 'slow 8', '--thread', thread]);
      await eventually(async () => assert.equal((await ours.get(thread)).state, 'working'));
      await restart?.();
      assert.equal((await torn).code, 1);
      assert.match(whole(await talk.send({ text: 'hello', contextId: thread })), /^waited 8 s/);
    },
  },
];
