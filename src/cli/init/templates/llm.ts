import type { Template } from './kind.ts';

/** A language model. */
export const llmTemplate: Template = {
  doc: 'a language model',
  say: 'my name is Ada',
  readme: `The model is that of any OpenAI-compatible endpoint. Without settings it is \`llama3.2\` of Ollama on this machine. For another one:

    OPENAI_BASE_URL=https://api.openai.com/v1 OPENAI_MODEL=gpt-5-mini OPENAI_API_KEY=… npm start`,
  files: (name) => ({ 'agent.ts': agent(name), 'agent.test.ts': TEST }),
};

function agent(name: string): string {
  return `import { llmAgent, openAiModel } from 'parley-a2a/agents';

const { OPENAI_BASE_URL: baseUrl = 'http://127.0.0.1:11434/v1', OPENAI_MODEL: model = 'llama3.2', OPENAI_API_KEY: apiKey } = process.env;

/** Talks, and remembers the conversation. */
export default llmAgent({
  name: '${name}',
  description: 'Talks with you.',
  system: 'Answer in one or two sentences.',
  model: openAiModel({ baseUrl, model, ...(apiKey === undefined ? {} : { apiKey }) }),
});
`;
}

const TEST = `import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { A2AClient } from 'parley-a2a';
import { serve } from 'parley-a2a/server/node';

/** Stands for a model: it answers with the number of messages that it got, without the instructions. */
const model = createServer(async (request, response) => {
  const { messages }: { messages: { role: string }[] } = JSON.parse(await text(request));
  const content = \`message \${messages.filter(({ role }) => role !== 'system').length}\`;
  response.setHeader('Content-Type', 'text/event-stream');
  response.end(\`data: \${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] })}\\n\\ndata: [DONE]\\n\\n\`);
});

test('answers, and remembers the conversation', async () => {
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  const address = model.address();
  process.env['OPENAI_BASE_URL'] = \`http://127.0.0.1:\${typeof address === 'object' ? address?.port : ''}\`;
  const { default: agent } = await import('./agent.ts');
  const node = await serve(agent, { port: 0 });
  const client = await A2AClient.connect(node.url);
  try {
    const first = client.send('hello');
    assert.equal(await first.text(), 'message 1');
    // The first message, its answer, and this message.
    const { task } = await first.result();
    assert.equal(await client.send('do you remember?', { contextId: task?.contextId ?? '' }).text(), 'message 3');
  } finally {
    await node.close();
    model.close();
  }
});
`;
