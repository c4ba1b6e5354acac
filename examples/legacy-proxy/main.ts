/** An agent of A2A 0.2, served by the official SDK of that version, with a proxy in front of it, called by a current client. */
import assert from 'node:assert/strict';
import { A2AClient } from 'parley-a2a';
import { proxyAgent } from 'parley-a2a/agents';
import { serve } from 'parley-a2a/server/node';
import { legacyAgent } from './agent.ts';

const legacy = await legacyAgent();
const origin = await A2AClient.connect(legacy.url);
assert.ok(origin.card);
assert.match(origin.connection.title, /0\.2/);
const proxy = await serve(proxyAgent({ service: origin.service, card: origin.card }), { port: 0 });

const client = await A2AClient.connect(proxy.url);
assert.match(client.connection.title, /1\.0/);
assert.equal(await client.send('hello').text(), 'old words: hello');

await proxy.close();
legacy.close();
console.log('legacy-proxy: A2A 0.2 behind, A2A 1.0 in front');
