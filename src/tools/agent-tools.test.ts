import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { artifact, ask, defineAgent, status } from '#agents';
import type { Agent } from '#protocol';
import { A2AError } from '#protocol';
import { quiet, world } from '../../test/support/engine.ts';
import { builtIn } from '../../test/support/server.ts';
import type { AgentToolOptions } from './agent-tools.ts';
import { agentTools, remote } from './agent-tools.ts';
import { callOpenAiTool, toOpenAiTools } from './openai.ts';
import { outcomeJson } from './outcome.ts';

async function toolsFor(agent: Agent, options: AgentToolOptions = {}) {
  const there = await world(agent);
  const tools = await agentTools({ service: there.service, card: agent.card }, options);
  const [tool] = tools;
  if (tool === undefined) throw new Error('no tool');
  return { there, tools, tool };
}

const add = defineAgent({
  name: 'Calculator',
  description: 'Calculates.',
  skills: [{ id: 'add', description: 'Adds two numbers.', input: z.object({ a: z.number(), b: z.number() }) }],
  run: (turn) => ({ sum: (turn.input?.a ?? 0) + (turn.input?.b ?? 0) }),
});

describe('agentTools', () => {
  it('makes a tool of each skill, with schema and description', async () => {
    const { tool } = await toolsFor(builtIn('echo'));
    expect([tool.name, tool.description, tool.capabilities]).toEqual([
      'a2a__echo__echo',
      'Gives back what it is sent: one artifact with the parts of the message, unchanged.',
      ['network:fetch'],
    ]);
    expect(tool.inputSchema).toMatchObject({ type: 'object', required: ['query'] });
    const outcome = await tool.execute({ query: 'hello' });
    expect(outcome).toMatchObject({ ok: true, isWaiting: false, state: 'TASK_STATE_COMPLETED', text: 'hello' });
  });

  it('accepts images and audio if the agent does', async () => {
    const seeing = defineAgent({
      name: 'eye',
      description: '',
      inputModes: ['text/plain', 'image/png', 'audio/wav'],
      run: (turn) => turn.parts,
      outputModes: ['*/*'],
    });
    const { tool } = await toolsFor(seeing);
    expect(Object.keys(tool.inputSchema['properties'] ?? {})).toEqual([
      ...['query', 'image_url', 'image_data', 'audio_data', 'contextId', 'taskId'],
    ]);
    const { parts } = await tool.execute({ query: 'what is it?', image_data: 'iVBORw0KGgo=', audio_data: 'UklGRg==' });
    expect(parts).toEqual([
      { text: 'what is it?' },
      { raw: 'iVBORw0KGgo=', mediaType: 'image/png' },
      { raw: 'UklGRg==', mediaType: 'audio/wav' },
    ]);
  });

  it('uses the schema that a skill publishes, and sends data', async () => {
    const { tool } = await toolsFor(add);
    expect(tool.inputSchema).toMatchObject({ type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } });
    expect(outcomeJson(await tool.execute({ a: 2, b: 3 }))).toMatchObject({ state: 'completed', data: { sum: 5 } });
    expect(await tool.execute({ a: 'two', b: 3 })).toMatchObject({ ok: false, state: 'TASK_STATE_REJECTED' });
  });

  it.each([
    ['a2a_agent', 'a2a_Calculator', 'message'],
    ['peer_agent', 'peer_Calculator', 'task_description'],
  ] as const)('makes one tool of the whole agent: %s', async (naming, name, words) => {
    const { tools } = await toolsFor(add, { naming });
    expect(tools.map((tool) => [tool.name, tool.inputSchema['required']])).toEqual([[name, [words]]]);
    expect(tools[0]?.description).toBe('Calculates. Skills: add: Adds two numbers.');
  });

  it('sends the skill and unknown arguments as metadata', async () => {
    const seen: unknown[] = [];
    const { tool } = await toolsFor(defineAgent({ name: 'a', description: '', run: (turn) => void seen.push(turn.message.metadata) }));
    await tool.execute({ query: 'x', priority: 'high' });
    expect(seen).toEqual([{ priority: 'high', skillId: 'a' }]);
  });

  it('returns a question, and accepts its answer with the task id', async () => {
    const { tool } = await toolsFor(builtIn('script'));
    const asked = await tool.execute({ query: 'ask' });
    expect(asked).toMatchObject({ ok: false, isWaiting: true, text: 'What should I answer?' });
    const { taskId = '' } = outcomeJson(asked);
    expect(await tool.execute({ query: 'blue', taskId })).toMatchObject({ ok: true, text: 'answer: blue' });
  });

  it('reports progress', async () => {
    const agent = defineAgent({
      name: 'slow',
      description: '',
      async *run() {
        yield status('looking');
        yield 'found ';
        yield 'it';
        yield artifact({ parts: [{ url: 'https://x.example/a.png', mediaType: 'image/png' }] });
      },
    });
    const notes: string[] = [];
    const { tool } = await toolsFor(agent);
    const outcome = await tool.execute({ query: 'go' }, { onProgress: (text) => notes.push(text) });
    expect(notes).toEqual(['looking', 'found ', 'it']);
    expect(outcomeJson(outcome)).toMatchObject({ response: 'found it', media_url: 'https://x.example/a.png', media_type: 'image/png' });
  });

  it('cancels the task when the call is aborted', async () => {
    const { tool, there } = await toolsFor(builtIn('script'));
    const stop = new AbortController();
    const call = tool.execute(
      { query: 'chunks=2 delay=60000' },
      { signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) },
    );
    await expect(call).rejects.toThrow('enough');
    await quiet(20);
    expect((await there.engine.admin.tasks({})).tasks.map(({ state }) => state)).toEqual(['TASK_STATE_CANCELED']);
  });

  it('cancels a task whose id arrives after the abort', async () => {
    const { tool, there } = await toolsFor(builtIn('script'));
    const stop = new AbortController();
    const call = tool.execute({ query: 'sleep=60000' }, { signal: stop.signal });
    await quiet(10);
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await there.time.advance(1000); // only now does the agent name it
    await quiet(20);
    expect((await there.engine.admin.tasks({})).tasks.map(({ state }) => state)).toEqual(['TASK_STATE_CANCELED']);
  });

  it.each([
    ['fail', 'The message asked me to fail.', 'failed'],
    ['reject', 'The message asked me to reject this.', 'rejected'],
    ['message', 'The message asked for an answer without a task.', 'completed'],
  ])('returns the final state: %s', async (query, response, state) => {
    const { tool } = await toolsFor(builtIn('script'));
    expect(outcomeJson(await tool.execute({ query }))).toMatchObject({ response, state });
  });

  it('requires a text', async () => {
    const { tool } = await toolsFor(builtIn('echo'));
    await expect(tool.execute({})).rejects.toThrow('one of query, message, task_description is required, as a string');
    await expect(tool.execute({ query: 7 })).rejects.toThrow('is required');
  });

  it('drops the connection after an error', async () => {
    const there = await world(builtIn('echo'));
    let connects = 0;
    let isDown = false;
    const source = remote(async () => {
      connects += 1;
      const stream = isDown
        ? () => {
            throw new A2AError('UNAVAILABLE');
          }
        : there.service.stream;
      return { service: { ...there.service, stream }, card: builtIn('echo').card };
    });
    const [tool] = await agentTools(source);
    await tool?.execute({ query: 'a' });
    expect(connects).toBe(1);
    isDown = true;
    source.forget();
    await expect(tool?.execute({ query: 'b' })).rejects.toThrow();
    isDown = false;
    expect(await tool?.execute({ query: 'c' })).toMatchObject({ ok: true });
    expect(connects).toBe(3);
  });
});

describe('OpenAI tools', () => {
  it('are listed, and run a model’s tool call', async () => {
    const { tools } = await toolsFor(add);
    expect(toOpenAiTools(tools)).toMatchObject([{ type: 'function', function: { name: 'a2a__calculator__add' } }]);
    const call = (name: string, text: string) => callOpenAiTool(tools, { id: 'c1', function: { name, arguments: text } });
    expect(JSON.parse((await call('a2a__calculator__add', '{"a":1,"b":1}')).content)).toMatchObject({ data: { sum: 2 } });
    expect((await call('a2a__calculator__add', '{"a":')).content).toBe('{"error":"the arguments are not JSON"}');
    expect((await call('nope', '{}')).content).toBe('{"error":"there is no tool nope"}');
  });
});

describe('a call that ends with a question', () => {
  it('returns the question, not the artifacts before it', async () => {
    const agent = defineAgent({
      name: 'a',
      description: '',
      async *run() {
        yield 'draft';
        yield ask('Send it?');
      },
    });
    const { tool } = await toolsFor(agent);
    expect((await tool.execute({ query: 'x' })).text).toBe('Send it?');
  });
});
