/** An agent for an OpenAI-compatible endpoint, run with a fake endpoint on this machine. */
import assert from 'node:assert/strict';
import { A2AClient } from 'parley-a2a';
import { serve } from 'parley-a2a/server/node';
import { startFakeModel } from '../../test/support/fake-model/server.ts';
import { chatAgent } from './agent.ts';

const model = await startFakeModel();
const node = await serve(chatAgent({ baseUrl: `${model.url}/v1`, model: 'fake' }), { port: 0 });
const client = await A2AClient.connect(node.url);

const chunks: string[] = [];
for await (const event of client.stream('good morning to you')) {
  if (event.artifactUpdate !== undefined) chunks.push(event.artifactUpdate.artifact.parts[0]?.text ?? '');
}
assert.equal(chunks.join(''), 'You said good morning to you');
assert.ok(chunks.length > 1, 'it was streamed');
assert.deepEqual(model.asked, [[{ role: 'user', text: 'good morning to you' }]]);

const { task } = await client.send('I am Ada').result();
await client.send('who am I?', { contextId: task?.contextId ?? '' }).result();
const remembered = model.asked.at(-1)?.map(({ text }) => text);
assert.deepEqual(remembered, ['I am Ada', 'You said I am Ada', 'who am I?']);

await model.close();
const failed = await client.send('is anybody there?').result();
assert.equal(failed.task?.status.state, 'TASK_STATE_FAILED');

await node.close();
console.log(`llm: ${chunks.length} chunks; the conversation is remembered; a model that is away fails the task`);
