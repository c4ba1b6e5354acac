import assert from 'node:assert/strict';
import type { Conversation } from '../conversations.ts';
import { BY_CONTEXT, must, whole } from '../conversations.ts';
import type { Reply, Say, Talk } from '../talk.ts';
import type { OutgoingMessage, Part, PromptKitApi, PromptKitTask, Status, StreamEvent } from './player.ts';
import { PromptKitClient } from './player.ts';
import type { ToolApi } from './tools.ts';

export interface PromptKitTalk extends Talk {
  readonly url: string;
  readonly client: PromptKitApi;
  readonly tools: ToolApi;
}

export function promptKitTalk(url: string, client: PromptKitApi, tools: ToolApi): PromptKitTalk {
  return {
    url,
    client,
    tools,
    joinsText: true,
    send: async (say) => taskReply(await client.send(messageOf(say))),
    stream: async (say) => {
      const seen: Reply[] = [];
      for await (const event of client.stream(messageOf(say))) seen.push(eventReply(event));
      return seen;
    },
    begin: async (say) => {
      for await (const event of client.stream(messageOf(say))) return eventReply(event);
      throw new Error('the stream ended before it named a task');
    },
    get: async (id) => taskReply(await client.get(id)),
    cancel: async (id) => {
      await client.cancel(id);
      return taskReply(await client.get(id));
    },
    list: async (contextId = '') => (await client.list(contextId)).map(({ id }) => id),
    close: async () => void client.close(),
  };
}

function messageOf({ text, contextId, taskId, file, data }: Say): OutgoingMessage {
  const parts: Part[] = [{ text }];
  if (file !== undefined) parts.push({ raw: file.base64, filename: file.name, mediaType: file.mediaType });
  if (data !== undefined) parts.push({ data });
  return { parts, ...(contextId === undefined ? {} : { contextId }), ...(taskId === undefined ? {} : { taskId }) };
}

function taskReply({ id, contextId, status, artifacts = [] }: PromptKitTask): Reply {
  return { taskId: id, contextId, ...statusReply(status), ...partReply(artifacts.flatMap(({ parts }) => parts)) };
}

function eventReply({ taskId, contextId, status, artifact }: StreamEvent): Reply {
  return { taskId, contextId, ...(status === undefined ? {} : statusReply(status)), ...partReply(artifact?.parts ?? []) };
}

function statusReply({ state, message }: Status): Pick<Reply, 'state' | 'note'> {
  const note = message?.parts.map(({ text }) => text ?? '').join('');
  return { state: state.replace('_', '-'), ...(note === undefined ? {} : { note }) };
}

function partReply(parts: readonly Part[]): Pick<Reply, 'texts' | 'files' | 'data'> {
  return {
    texts: parts.flatMap(({ text }) => (text === undefined ? [] : [text])),
    data: parts.flatMap(({ data }) => (data === undefined ? [] : [data])),
    files: parts.flatMap(({ raw, filename, mediaType }) =>
      raw === undefined
        ? []
        : [{ base64: raw, ...(filename === undefined ? {} : { name: filename }), ...(mediaType === undefined ? {} : { mediaType }) }],
    ),
  };
}

export const ALSO: readonly Conversation<PromptKitTalk>[] = [
  BY_CONTEXT,
  {
    id: 'promptkit-tools',
    title: 'the skills are tools, and their answers come whole from one send',
    run: async ({ tools }) => {
      const [first] = await tools.register();
      const { name, inputs } = must(first, 'the card has a skill');
      assert.match(name, /^a2a__peer_test__/);
      assert.ok(inputs.includes('query'));
      const call = (query: string) => tools.execute(name, { query });
      assert.equal((await call('hello tool')).response, 'echo: hello tool');
      assert.equal((await call('chunks 20')).response.split('\n').length, 1);
      assert.equal((await call('question')).response, 'Which color?');
      assert.equal((await call('fail')).response, 'it broke');
    },
  },
  {
    id: 'promptkit-media',
    title: 'an image of the kind image/* reaches the agent',
    run: async ({ client }) => {
      const raw = Buffer.from('not really an image').toString('base64');
      const task = await client.send({ parts: [{ text: 'parts' }, { raw, mediaType: 'image/*' }] });
      assert.equal(task.status.state, 'completed');
      assert.equal(task.artifacts?.[0]?.parts[0]?.raw, raw);
    },
  },
  {
    id: 'promptkit-tool-result',
    title: 'an approval is given, and refused, as the result of a tool call in the same context',
    run: async ({ client }) => {
      for (const [answer, text] of [
        [{ tool_result: 'allow' }, 'before after allow'],
        [{ rejected: 'no' }, 'before after deny'],
      ] as const) {
        const asked = await client.send({ parts: [{ text: 'approve' }] });
        assert.equal(asked.status.state, 'input_required');
        const call = asked.status.message?.parts[0]?.metadata?.['tool_call_id'] ?? 'call-1';
        const done = await client.send({ contextId: asked.contextId, parts: [{ metadata: { tool_call_id: call, ...answer } }] });
        assert.equal(done.status.state, 'completed');
        assert.equal(whole(taskReply(done)), text);
      }
    },
  },
  {
    id: 'promptkit-subscribe',
    title: 'a subscription to a finished task is one status and the end',
    run: async ({ client, url }) => {
      const { id } = await client.send({ parts: [{ text: 'hello' }] });
      const events: StreamEvent[] = [];
      for await (const event of new PromptKitClient(url).subscribe(id)) events.push(event);
      assert.deepEqual(
        events.map(({ status, artifact }) => [status?.state, artifact]),
        [['completed', undefined]],
      );
    },
  },
];
