import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import type { Reply, Talk } from './talk.ts';

/** One scripted conversation. It throws when the other side was misunderstood. */
export interface Conversation<T extends Talk = Talk> {
  readonly id: string;
  readonly title: string;
  /** Only for nodes of ours. */
  readonly needsRestart?: true;
  readonly run: (talk: T, world: World) => Promise<void>;
}

/** What a conversation can do to the agent's side, beside talking. */
export interface World {
  /** The address of the agent. */
  readonly url?: string;
  /** Kills our node with SIGKILL and starts it again, with the same address and data. Absent: the node is not ours. */
  restart?(): Promise<void>;
  /** Waits until a proxy of ours has stored the id that the task has at its agent. Before that nobody knows whether the agent has the message, and a restarted proxy does not send it twice. Absent: no proxy. */
  untilSent?(taskId: string): Promise<void>;
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
      const asked = events.findLast(({ state }) => state === 'input-required');
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
  {
    id: 'restart',
    title: 'an agent that is killed in the middle and restarted finishes its answer',
    needsRestart: true,
    run: async (talk, { restart, untilSent }) => {
      const begun = await talk.begin({ text: 'slow 2' });
      const id = must(begun.taskId, 'the stream names its task');
      await untilSent?.(id);
      await restart?.();
      await eventually(async () => assert.equal((await talk.get(id)).state, 'completed'));
      assert.equal(whole(await talk.get(id)), 'waited 2 s');
    },
  },
];

/** Two of these run side by side. Each takes longer than Society's client waits; one after the other, longer than PromptKit's. */
export const SLOW: Conversation = {
  id: 'slow',
  title: 'two answers of 45 s, side by side',
  run: async (talk) => {
    const reply = await talk.send({ text: 'slow 45' });
    assert.equal(reply.state, 'completed');
    assert.equal(whole(reply), 'waited 45 s');
  },
};

/** For products whose clients never send a task id. */
export const BY_CONTEXT: Conversation = {
  id: 'by-context',
  title: 'a question, answered by context alone',
  run: async (talk) => {
    const asked = await talk.send({ text: 'question' });
    assert.equal(asked.state, 'input-required');
    const done = await talk.send({ text: 'green', contextId: must(asked.contextId, 'the question names its context') });
    assert.equal(done.state, 'completed');
    assert.match(whole(done), /You chose green\.$/);
  },
};

export function whole(reply: Reply): string {
  return reply.texts.join('');
}

export function must<T>(value: T | undefined, what: string): T {
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
