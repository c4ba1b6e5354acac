import assert from 'node:assert/strict';
import type { Reply, Talk } from './talk.ts';

/** One scripted conversation. It throws when the other side was misunderstood. */
export interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly run: (talk: Talk) => Promise<void>;
}

/** TaskNotFoundError. */
const NOT_FOUND = -32001;
const FILE = { name: 'note.txt', mediaType: 'text/plain', base64: Buffer.from('a small file').toString('base64') };
const WORDS_20 = Array.from({ length: 20 }, (_, at) => `${at + 1} `).join('');

export const CONVERSATIONS: readonly Conversation[] = [
  {
    id: 'answer',
    title: 'a short answer',
    run: async (talk) => {
      const reply = await talk.send({ text: 'hello there' });
      assert.equal(reply.state, 'completed');
      assert.equal(whole(reply), 'echo: hello there');
    },
  },
  {
    id: 'chunks',
    title: 'an answer streamed in 20 chunks reads as one text',
    run: async (talk) => {
      const events = await talk.stream({ text: 'chunks 20' });
      assert.equal(events.map(whole).join(''), WORDS_20);
      assert.equal(events.at(-1)?.state, 'completed');
      const task = await talk.get(taskOf(events));
      assert.deepEqual(talk.joinsText ? task.texts : [whole(task)], [WORDS_20]);
    },
  },
  {
    id: 'memory',
    title: 'three turns in one context; the last recalls the first',
    run: async (talk) => {
      const first = await talk.send({ text: 'remember blue' });
      const context = must(first.contextId, 'the first answer names a context');
      await talk.send({ text: 'hello again', contextId: context });
      const last = await talk.send({ text: 'recall', contextId: context });
      assert.equal(whole(last), 'blue');
      assert.equal(last.contextId, context);
    },
  },
  {
    id: 'question',
    title: 'a question, answered by task id',
    run: async (talk) => {
      const asked = await talk.send({ text: 'question' });
      assert.equal(asked.state, 'input-required');
      assert.equal(asked.note, 'Which color?');
      const done = await talk.send({ text: 'green', ...ids(asked) });
      assert.equal(done.state, 'completed');
      assert.match(whole(done), /You chose green\.$/);
      assert.equal(done.taskId, asked.taskId);
    },
  },
  {
    id: 'approval',
    title: 'an approval in the middle of a stream',
    run: async (talk) => {
      const events = await talk.stream({ text: 'approve' });
      const asked = events.find(({ state }) => state === 'input-required');
      assert.match(asked?.note ?? '', /Delete 3 files\?/);
      const done = await talk.send({ text: 'allow', taskId: taskOf(events), ...contextOf(events) });
      assert.equal(done.state, 'completed');
      assert.match(whole(done), /before after allow$/);
    },
  },
  {
    id: 'parts',
    title: 'a file and a data part, there and back',
    run: async (talk) => {
      const reply = await talk.send({ text: 'parts', file: FILE, data: { answer: 42 } });
      assert.equal(reply.state, 'completed');
      assert.equal(reply.files[0]?.base64, FILE.base64);
      if (talk.losesFileNames === undefined) assert.equal(reply.files[0]?.name, FILE.name);
      assert.deepEqual(reply.data, [{ answer: 42 }]);
    },
  },
  {
    id: 'cancel',
    title: 'a cancel while the answer streams',
    run: async (talk) => {
      const begun = await talk.begin({ text: 'work' });
      const id = must(begun.taskId, 'the stream names its task');
      assert.equal((await talk.cancel(id)).state, 'canceled');
      assert.equal((await talk.get(id)).state, 'canceled');
    },
  },
  {
    id: 'failure',
    title: 'an agent that fails, with its reason',
    run: async (talk) => {
      const reply = await talk.send({ text: 'fail' });
      assert.equal(reply.state, 'failed');
      assert.equal(reply.note, 'it broke');
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
    id: 'list',
    title: 'a list of what was made, and a get of it',
    run: async (talk) => {
      if (talk.list === undefined) return;
      const made = await talk.send({ text: 'hello list' });
      const listed = await talk.list(made.contextId);
      assert.ok(listed.includes(must(made.taskId, 'the answer is a task')));
      assert.equal(whole(await talk.get(must(made.taskId, 'the answer is a task'))), 'echo: hello list');
    },
  },
];

function whole(reply: Reply): string {
  return reply.texts.join('');
}

function must<T>(value: T | undefined, what: string): T {
  assert.ok(value !== undefined, what);
  return value;
}

function ids({ taskId, contextId }: Reply): { readonly taskId?: string; readonly contextId?: string } {
  return { ...(taskId === undefined ? {} : { taskId }), ...(contextId === undefined ? {} : { contextId }) };
}

function taskOf(events: readonly Reply[]): string {
  return must(events.find(({ taskId }) => taskId !== undefined)?.taskId, 'the stream names its task');
}

function contextOf(events: readonly Reply[]): { readonly contextId?: string } {
  const found = events.find(({ contextId }) => contextId !== undefined)?.contextId;
  return found === undefined ? {} : { contextId: found };
}
