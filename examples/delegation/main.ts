/** One agent that delegates its work to two others. */
import assert from 'node:assert/strict';
import { A2AClient } from 'parley-a2a';
import { serve } from 'parley-a2a/server/node';
import { editor, research, writer } from './agent.ts';

// Two agents on one node: the first is at its root, each at /agents/{name}.
const team = await serve([research, writer], { port: 0 });
const front = await serve(editor(`${team.url}/agents/research`, `${team.url}/agents/writer`), { port: 0 });
const client = await A2AClient.connect(front.url);

const notes: string[] = [];
let text = '';
for await (const event of client.stream('tea')) {
  if (event.artifactUpdate !== undefined) text += event.artifactUpdate.artifact.parts[0]?.text ?? '';
  const note = event.statusUpdate?.status.message?.parts[0]?.text;
  if (note !== undefined) notes.push(note);
}
assert.equal(text, 'Report: Facts about tea.');
assert.deepEqual(notes, ['Asking research', 'Asking the writer']);

// The work of the other agents is stored as their own tasks.
const done = await (await A2AClient.connect(`${team.url}/agents/research`)).list().page();
assert.equal(done.tasks.length, 1);

await front.close();
await team.close();
console.log('delegation: an editor, two colleagues');
