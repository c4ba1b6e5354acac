/** An agent that asks first: approved, denied, and asked again after an unclear answer. */
import assert from 'node:assert/strict';
import { A2AClient } from 'parley-a2a';
import { serve } from 'parley-a2a/server/node';
import cleaner from './agent.ts';

const node = await serve(cleaner, { port: 0 });
const client = await A2AClient.connect(node.url);

const asked = client.send('notes.txt');
const question = await asked.question();
assert.equal(question?.text, 'Delete notes.txt?');
assert.deepEqual(
  question?.choices.map(({ optionId }) => optionId),
  ['go', 'stop'],
);
assert.equal((await asked.result()).task?.status.state, 'TASK_STATE_INPUT_REQUIRED');
assert.equal(await asked.answer('yes').text(), 'Deleted notes.txt.');

const other = client.send('thesis.tex');
await other.question();
assert.equal(await other.answer([{ data: { optionId: 'stop' } }]).text(), 'Kept thesis.tex.');

const unclear = client.send('mail.mbox');
await unclear.question();
assert.equal((await unclear.answer('perhaps').question())?.text, 'Delete mail.mbox?');

await node.close();
console.log('approvals: one approved, one denied, one asked again');
