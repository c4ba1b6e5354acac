import assert from 'node:assert/strict';
import type { Conversation } from '../conversations.ts';
import type { Reply } from '../talk.ts';

const WORDS_20 = Array.from({ length: 20 }, (_, at) => `${at + 1}`).join(' ');
const FILE = '«««save_artifact: filename="plan.json" mime_type="application/json" description="A plan"\n{"steps": 3}\n»»»\nDone.';
const LARGE = 300_000;

/**
 * The conversations for an agent of SAM, whose model follows orders in the message (test/support/fake-model). SAM has no questions and no approvals in its
 * open-source agents.
 */
export const MODEL_CONVERSATIONS: readonly Conversation[] = [
  {
    id: 'answer',
    title: 'a short answer, with its embeds resolved',
    run: async (talk) => {
      const reply = await talk.send({ text: 'Do [[say one «math:1+1» three«status_update:busy»]]' });
      assert.equal(reply.state, 'completed');
      assert.equal(whole(reply), 'one 2 three');
    },
  },
  {
    id: 'chunks',
    title: 'an answer streamed in 20 chunks reads as one text',
    run: async (talk) => {
      const events = await talk.stream({ text: `Do [[say ${WORDS_20}]]` });
      assert.equal(events.map(whole).join(''), WORDS_20);
      const last = events.at(-1);
      assert.equal(last?.state, 'completed');
      assert.deepEqual((await talk.get(last?.taskId ?? '')).texts, [WORDS_20]);
    },
  },
  {
    id: 'memory',
    title: 'three turns in one context; the last recalls the first',
    run: async (talk) => {
      const { contextId } = await talk.send({ text: 'the word is blue [[say Yes.]]' });
      assert.ok(contextId !== undefined);
      await talk.send({ text: 'Do [[say hello again]]', contextId });
      assert.equal(whole(await talk.send({ text: 'Do [[recall]]', contextId })), 'I remember blue.');
    },
  },
  {
    id: 'files',
    title: 'a file that the agent made comes as bytes',
    run: async (talk) => {
      const reply = await talk.send({ text: `Do [[say ${FILE}]]` });
      assert.equal(reply.state, 'completed');
      const file = reply.files.find(({ name }) => name === 'plan.json');
      assert.deepEqual(JSON.parse(Buffer.from(file?.base64 ?? '', 'base64').toString()), { steps: 3 });
    },
  },
  {
    id: 'cancel',
    title: 'a cancel while the answer streams',
    run: async (talk) => {
      const { taskId = '' } = await talk.begin({ text: 'Do [[mumble 2000|50]]' });
      assert.equal((await talk.cancel(taskId)).state, 'canceled');
      assert.equal((await talk.get(taskId)).state, 'canceled');
    },
  },
  {
    id: 'large',
    title: 'an answer of 300 kB',
    run: async (talk) => {
      const reply = await talk.send({ text: `Do [[say ${'x'.repeat(LARGE)}]]` });
      assert.equal(whole(reply).length, LARGE);
    },
  },
  {
    id: 'unknown',
    title: 'a get of a task that does not exist is an error with its code',
    run: async (talk) => {
      await assert.rejects(talk.get('no-such-task'), (error: { code?: number }) => error.code === -32001 || error.code === 404);
    },
  },
  {
    id: 'list',
    title: 'a list of what was made, and a get of it',
    run: async (talk) => {
      const made = await talk.send({ text: 'Do [[say hello list]]' });
      assert.ok((await talk.list?.(made.contextId))?.includes(made.taskId ?? ''));
      assert.equal(whole(await talk.get(made.taskId ?? '')), 'hello list');
    },
  },
];

function whole(reply: Reply): string {
  return reply.texts.join('');
}
