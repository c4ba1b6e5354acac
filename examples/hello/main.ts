/** The smallest pair: an agent that is a function, and a caller. */
import assert from 'node:assert/strict';
import { A2AClient } from 'parley-a2a';
import { serve } from 'parley-a2a/server/node';
import hello from './agent.ts';

const node = await serve(hello, { port: 0 });
const client = await A2AClient.connect(node.url);

assert.equal(client.card?.name, 'hello');
assert.equal(await client.send('Ada').text(), 'Hello, Ada!');
// The same agent, called in A2A 0.3 and in 0.1.
for (const dialect of ['v03', 'v01']) {
  const older = await A2AClient.connect(node.url, { dialect });
  assert.equal(await older.send('Ada').text(), 'Hello, Ada!');
}

await node.close();
console.log('hello: greeted in A2A 1.0, 0.3 and 0.1');
