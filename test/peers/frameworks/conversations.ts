import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import type { Conversation } from '../conversations.ts';
import { must, whole } from '../conversations.ts';
import type { Reply } from '../talk.ts';

const WORDS_20 = Array.from({ length: 20 }, (_, at) => `${at + 1}`).join(' ');
const FILE = { name: 'note.txt', mediaType: 'text/plain', base64: Buffer.from('a small file').toString('base64') };
const NOT_FOUND = -32001;

/**
 * The conversations for an agent of a framework. Its model is the fake one, which follows the orders in the message
 * (test/support/fake-model). A framework answers in artifacts, in a message, or only in status messages.
 */
export const MODEL_CONVERSATIONS: readonly Conversation[] = [
  {
    id: 'answer',
    title: 'a short answer',
    run: async (talk) => {
      const reply = await talk.send({ text: 'Do [[say hello there]]' });
      assert.equal(reply.state, 'completed');
      assert.equal(said([reply]), 'hello there');
    },
  },
  {
    id: 'chunks',
    title: 'an answer streamed in 20 chunks reads as one text',
    run: async (talk) => {
      const events = await talk.stream({ text: `Do [[say ${WORDS_20}]]` });
      assert.equal(said(events), WORDS_20);
      assert.equal(events.findLast(({ state }) => state !== undefined)?.state, 'completed');
    },
  },
  {
    id: 'memory',
    title: 'three turns in one context; the last recalls the first',
    run: async (talk) => {
      const first = await talk.send({ text: 'the word is blue [[say Yes.]]' });
      const contextId = must(first.contextId, 'the first answer names a context');
      await talk.send({ text: 'Do [[say hello again]]', contextId });
      assert.equal(said([await talk.send({ text: 'Do [[recall]]', contextId })]), 'I remember blue.');
    },
  },
  {
    id: 'parts',
    title: 'a file beside the text',
    run: async (talk) => {
      const reply = await talk.send({ text: 'Do [[say got it]]', file: FILE });
      assert.equal(reply.state, 'completed');
      assert.equal(said([reply]), 'got it');
    },
  },
  {
    id: 'cancel',
    title: 'a cancel while the answer streams',
    run: async (talk) => {
      const begun = await talk.begin({ text: 'Do [[mumble 2000|50]]' });
      const id = must(begun.taskId, 'the stream names its task');
      assert.equal((await talk.cancel(id)).state, 'canceled');
      assert.equal((await talk.get(id)).state, 'canceled');
    },
  },
  {
    id: 'failure',
    title: 'a model that refuses is a failure',
    run: async (talk) => {
      const reply = await talk.send({ text: 'Do [[fail length]]' });
      assert.equal(reply.state, 'failed');
    },
  },
  {
    id: 'unknown',
    title: 'a get of a task that does not exist is an error with its code',
    run: async (talk) => {
      await assert.rejects(talk.get('no-such-task'), (error: { code?: number }) => error.code === NOT_FOUND || error.code === 404);
    },
  },
  {
    id: 'get',
    title: 'a get of what was made',
    run: async (talk) => {
      const made = await talk.send({ text: 'Do [[say hello get]]' });
      assert.equal(said([await talk.get(must(made.taskId, 'the answer is a task'))]), 'hello get');
    },
  },
  {
    id: 'restart',
    title: 'a proxy that is killed in the middle and restarted finishes the answer',
    needsRestart: true,
    run: async (talk, { restart, untilSent }) => {
      const begun = await talk.begin({ text: 'Do [[mumble 100|50]]' });
      const id = must(begun.taskId, 'the stream names its task');
      await untilSent?.(id);
      await restart?.();
      await eventually(async () => assert.equal((await talk.get(id)).state, 'completed'));
      assert.match(said([await talk.get(id)]), /word 100\s*$/);
    },
  },
];

export const MODEL_SLOW: Conversation = {
  id: 'slow',
  title: 'two answers of 45 s, side by side',
  run: async (talk) => {
    const reply = await talk.send({ text: 'Do [[mumble 90|500]]' });
    assert.equal(reply.state, 'completed');
    assert.match(said([reply]), /word 90\s*$/);
  },
};

/** For clients of frameworks that have a stream and no get. */
export const STREAMED: Conversation = {
  id: 'streamed',
  title: 'an answer streamed in 20 chunks reads as one text, without a get of it',
  run: async (talk) => {
    assert.equal(said(await talk.stream({ text: 'chunks 20' })), WORDS_20);
  },
};

/** The text of an answer: of its artifacts or message, or of its status messages where there is nothing else. */
export function said(events: readonly Reply[]): string {
  const texts = events.map(whole).join('');
  return (texts === '' ? events.map(({ note = '' }) => note).join('') : texts).trim();
}
