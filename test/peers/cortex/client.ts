import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import type { Conversation } from '../conversations.ts';
import { BY_CONTEXT, must } from '../conversations.ts';
import type { Reply, Say, Talk } from '../talk.ts';
import type { CortexApi, CortexMessage, CortexPart, CortexTask, StatusEvent } from './player.ts';
import { requestOf } from './player.ts';

export interface CortexTalk extends Talk {
  readonly url: string;
  readonly api: CortexApi;
  readonly call: (method: string, params: object) => Promise<unknown>;
}

export async function cortexTalk(url: string, api: CortexApi & { close?(): void }): Promise<CortexTalk> {
  const card = await api.fetchCard(url);
  const calling = (method: string, params: object) => api.call(card, method, params);
  return {
    url,
    api,
    call: calling,
    joinsText: true,
    send: async (say) => taskReply((await calling('SendMessage', requestOf(messageOf(say)))) as CortexTask),
    stream: async (say) => {
      const seen: Reply[] = [];
      const task = await api.sendStreaming(card, messageOf(say), {
        chunk: (text) => seen.push({ texts: [text], files: [], data: [] }),
        status: (event) => seen.push(statusReply(event)),
      });
      const { state, note, taskId, contextId } = taskReply(task);
      // The last task repeats the text.
      const ids = { ...(taskId === undefined ? {} : { taskId }), ...(contextId === undefined ? {} : { contextId }) };
      seen.push({
        ...ids,
        ...(state === undefined ? {} : { state }),
        ...(note === undefined ? {} : { note }),
        texts: [],
        files: [],
        data: [],
      });
      return seen;
    },
    begin: async (say) => {
      const message = messageOf(say);
      let failure: unknown;
      api.sendStreaming(card, message, { chunk: () => {}, status: () => {} }).catch((error: unknown) => {
        failure = error;
      });
      // It learns the id of a stream's task at the end of the stream, or from the list.
      let found: CortexTask | undefined;
      await eventually(async () => {
        if (failure !== undefined) throw failure;
        found = (await listed(calling)).find(({ contextId }) => contextId === message.contextId);
        return found !== undefined;
      });
      return taskReply(must(found, 'the task is listed'));
    },
    get: async (id) => taskReply((await calling('GetTask', { id })) as CortexTask),
    cancel: async (id) => taskReply((await calling('CancelTask', { id })) as CortexTask),
    list: async () => (await listed(calling)).map(({ id }) => id),
    close: async () => api.close?.(),
  };
}

async function listed(calling: CortexTalk['call']): Promise<readonly CortexTask[]> {
  return ((await calling('ListTasks', {})) as { readonly tasks: readonly CortexTask[] }).tasks;
}

/** Its callers name the context themselves, and never send a task id. */
function messageOf({ text, contextId, file, data }: Say): CortexMessage {
  const parts: CortexPart[] = [{ text }];
  if (file !== undefined) parts.push({ file: { name: file.name, mimeType: file.mediaType, bytes: file.base64 } });
  if (data !== undefined) parts.push({ data });
  return { parts, contextId: contextId ?? crypto.randomUUID() };
}

function statusReply({ taskId, state }: StatusEvent): Reply {
  return { taskId, state: stateOf(state), texts: [], files: [], data: [] };
}

function stateOf(state: string): string {
  return state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
}

function taskReply({ id, contextId, status, artifacts = [] }: CortexTask): Reply {
  const parts = artifacts.flatMap((artifact) => artifact.parts);
  const note = status.message?.parts.map(({ text }) => text ?? '').join('');
  return {
    taskId: id,
    ...(contextId === undefined ? {} : { contextId }),
    state: stateOf(status.state),
    ...(note === undefined ? {} : { note }),
    texts: parts.flatMap(({ text }) => (text === undefined ? [] : [text])),
    data: parts.flatMap(({ data }) => (data === undefined ? [] : [data])),
    files: parts.flatMap(({ file }) =>
      file === undefined
        ? []
        : [
            {
              ...(file.bytes === undefined ? {} : { base64: file.bytes }),
              ...(file.name === undefined ? {} : { name: file.name }),
              ...(file.mimeType === undefined ? {} : { mediaType: file.mimeType }),
            },
          ],
    ),
  };
}

export const EXCEPT: Readonly<Record<string, string>> = {
  question: 'sends no task ids',
  unknown: 'reads null in place of an error',
};

export const ALSO: readonly Conversation<CortexTalk>[] = [
  BY_CONTEXT,
  {
    id: 'cortex-unknown',
    title: 'a get and a cancel of a task that does not exist are null',
    run: async (talk) => {
      assert.equal(await talk.call('GetTask', { id: 'no-such-task' }), null);
      assert.equal(await talk.call('CancelTask', { id: 'no-such-task' }), null);
    },
  },
  {
    id: 'cortex-tool',
    title: 'the agent as a tool: one text, memory by context, a question, a failure',
    run: async ({ url, api }) => {
      const tool = api.createToolWrapper(url);
      const { success, output, truncated } = await tool({ message: 'hello tool' });
      assert.deepEqual({ success, output, truncated }, { success: true, output: 'echo: hello tool', truncated: false });
      const words = Array.from({ length: 20 }, (_, at) => `${at + 1} `).join('');
      assert.equal((await tool({ message: 'chunks 20' })).output, words);
      const contextId = crypto.randomUUID();
      await tool({ message: 'remember red', contextId });
      assert.equal((await tool({ message: 'recall', contextId })).output, 'red');
      const asked = await tool({ message: 'question', contextId });
      assert.deepEqual([asked.success, asked.output], [false, 'Which color?']);
      assert.match((await tool({ message: 'green', contextId })).output, /You chose green\.$/);
      const failed = await tool({ message: 'fail' });
      assert.deepEqual([failed.success, failed.output], [false, 'it broke']);
    },
  },
  {
    id: 'cortex-list',
    title: 'listed tasks are whole',
    run: async (talk) => {
      const made = await talk.send({ text: 'hello whole' });
      const found = must(
        (await listed(talk.call)).find(({ id }) => id === made.taskId),
        'the task is listed',
      );
      assert.deepEqual(found.artifacts?.[0]?.parts, [{ text: 'echo: hello whole' }]);
    },
  },
];
