import { APICallError, simulateReadableStream } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, it } from 'vitest';
import { aiSdkModel, llmAgent } from '#agents';
import type { Task } from '#protocol';
import { contextId, getTextFromMessage } from '#protocol';
import { talkTo } from '../../support/talk.ts';

type StreamPart = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

const USAGE = {
  inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 4, text: 4, reasoning: 0 },
} as const;

function stream(parts: readonly StreamPart[]) {
  return { stream: simulateReadableStream({ chunks: [...parts], initialDelayInMs: null, chunkDelayInMs: null }) };
}

const saying = (...words: readonly string[]) =>
  stream([
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '1' },
    ...words.map((delta): StreamPart => ({ type: 'text-delta', id: '1', delta })),
    { type: 'text-end', id: '1' },
    { type: 'finish', usage: USAGE, finishReason: { unified: 'stop', raw: 'stop' } },
  ]);

const calling = (toolName: string, input: string) =>
  stream([
    { type: 'tool-call', toolCallId: 'c1', toolName, input },
    { type: 'finish', usage: USAGE, finishReason: { unified: 'tool-calls', raw: undefined } },
  ]);

const textOf = (task: Task): string => (task.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => part.text ?? '')).join('');

it("answers with a model of the AI SDK, and gives it the conversation and the tools' results", async () => {
  const model = new MockLanguageModelV4({ modelId: 'mock', doStream: [calling('time', '{}'), saying('It is ', 'noon.'), saying('Bye.')] });
  const time = {
    name: 'time',
    description: 'Tells the time.',
    inputSchema: { type: 'object' },
    isReadOnly: true,
    run: async () => ({ text: '12:00' }),
  };
  const { task } = await talkTo(llmAgent({ model: aiSdkModel(model), tools: [time], system: 'Be short.' }));
  const first = await task([{ text: 'what time is it?' }, { raw: 'aGk=', mediaType: 'image/png' }], { contextId: contextId('c') });
  expect(textOf(first)).toBe('It is noon.');
  expect(first.metadata).toMatchObject({ model: 'mock', usage: { inputTokens: 6, outputTokens: 8, totalTokens: 14 } });
  expect(model.doStreamCalls[1]?.prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
  expect(model.doStreamCalls[1]?.prompt[3]?.content).toMatchObject([{ toolName: 'time', output: { type: 'text', value: '12:00' } }]);
  await task('bye', { contextId: contextId('c') });
  expect(model.doStreamCalls[2]?.prompt.slice(1)).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: [{ type: 'text', text: 'It is noon.' }] },
    { role: 'user', content: [{ type: 'text', text: 'bye' }] },
  ]);
});

it('tells errors of the AI SDK plainly', async () => {
  const error = new APICallError({ message: 'no', url: 'http://model', requestBodyValues: {}, statusCode: 401 });
  const model = new MockLanguageModelV4({ modelId: 'mock', doStream: () => Promise.reject(error) });
  const { task } = await talkTo(llmAgent({ model: aiSdkModel(model) }));
  const { status } = await task('hi');
  expect(status.message === undefined ? '' : getTextFromMessage(status.message)).toBe(
    "The model refuses the key (HTTP 401). Set the provider's key to a valid one.",
  );
});
