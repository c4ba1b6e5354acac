import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2AClient } from '#client';
import { resolveConfig } from '#server';
import { llmServed } from '../../src/cli/serve/llm-agent.ts';
import type { FakeModel } from '../support/fake-model/server.ts';
import { startFakeModel } from '../support/fake-model/server.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';

const data = scratchFolder();
let fake: FakeModel;
beforeAll(async () => {
  fake = await startFakeModel();
});
afterAll(() => fake.close());

const settingsOf = (flags: Readonly<Record<string, string>>) => resolveConfig({ flags: new Map(Object.entries(flags)) });

describe('parley serve llm', () => {
  it('says what to set when the model or the key is missing', async () => {
    await expect(llmServed(settingsOf({}), {})).rejects.toThrow('needs the name of a model');
    await expect(llmServed(settingsOf({ 'run.model': 'm' }), {})).rejects.toMatchObject({
      message: 'OPENAI_API_KEY is not set, and OpenAI needs a key',
      hint: expect.stringContaining('export OPENAI_API_KEY='),
    });
    await expect(llmServed(settingsOf({ 'run.model': 'm', 'llm.api': 'anthropic' }), {})).rejects.toThrow('ANTHROPIC_API_KEY is not set');
    await expect(llmServed(settingsOf({ 'run.model': 'm', 'llm.baseUrl': 'http://x', 'llm.tools': 'nobody here' }), {})).rejects.toThrow(
      '--tool',
    );
  });

  it('demands authentication of its callers if it spends the money of a key', async () => {
    const settings = settingsOf({ 'run.model': 'm', 'llm.baseUrl': 'http://127.0.0.1:1/v1' });
    expect((await llmServed(settings, {})).lendsCredential).toBeUndefined();
    expect((await llmServed(settings, { OPENAI_API_KEY: 'k' })).lendsCredential).toBe(true);
  });

  it('talks, and remembers the conversation after kill -9', async () => {
    const args = ['llm', '--model', 'fake', '--base-url', `${fake.url}/v1`, '--data', data];
    const first = await parleyServe({ args });
    const { task } = await (await A2AClient.connect(first.url)).send('I am Ada').result();
    await first.kill();
    const second = await parleyServe({ args });
    const client = await A2AClient.connect(second.url);
    await client.send('who am I?', { contextId: task?.contextId ?? '' }).result();
    expect(fake.asked.at(-1)).toEqual([
      { role: 'user', text: 'I am Ada' },
      { role: 'model', text: 'You said I am Ada' },
      { role: 'user', text: 'who am I?' },
    ]);
    await second.stop();
  });
});
