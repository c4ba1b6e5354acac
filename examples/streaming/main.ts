/** Streams an answer; a reader disconnects in the middle and resumes. */
import assert from 'node:assert/strict';
import { A2AClient } from 'parley-a2a';
import { serve } from 'parley-a2a/server/node';
import teller from './agent.ts';

const node = await serve(teller, { port: 0 });
const client = await A2AClient.connect(node.url);
const words = 'it was a bright cold day in April and the clocks were striking thirteen';

const chunks: string[] = [];
const notes: string[] = [];
for await (const event of client.stream(words)) {
  if (event.artifactUpdate !== undefined) chunks.push(event.artifactUpdate.artifact.parts[0]?.text ?? '');
  if (event.statusUpdate !== undefined) notes.push(event.statusUpdate.status.message?.parts[0]?.text ?? '');
}
assert.ok(chunks.length > 5, `it came in ${chunks.length} pieces`);
assert.equal(chunks.join('').trim(), words);
assert.ok(notes.includes('Thinking'));

// The first reader disconnects after three events. The task continues; a later subscriber gets the earlier events, then the rest.
let taskId = '';
let seen = 0;
for await (const event of client.stream(words)) {
  taskId = event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId ?? taskId;
  seen += 1;
  if (seen === 3) break;
}
assert.notEqual(taskId, '');
for await (const event of client.subscribe(taskId)) if (event.statusUpdate?.status.state === 'TASK_STATE_COMPLETED') break;
const task = await client.get(taskId);
const text = (task.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => part.text ?? '')).join('');
assert.equal(text.trim(), words);

await node.close();
console.log(`streaming: ${chunks.length} pieces, and a reader who came back`);
