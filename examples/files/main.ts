/** Sends two files, receives one, and checks its bytes. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { A2AClient } from 'parley-a2a';
import { serve } from 'parley-a2a/server/node';
import sums from './agent.ts';

const node = await serve(sums, { port: 0 });
const client = await A2AClient.connect(node.url);
const picture = Buffer.from('89504e470d0a1a0a', 'hex');
const letter = Buffer.from('Dear Ada,\n');

const artifacts = await client
  .send([
    { text: 'Checksums, please.' },
    { raw: picture.toString('base64'), filename: 'map.png', mediaType: 'image/png' },
    { raw: letter.toString('base64'), filename: 'letter.txt', mediaType: 'text/plain' },
  ])
  .artifacts();

const [part] = artifacts[0]?.parts ?? [];
assert.equal(part?.filename, 'SHA256SUMS');
const sum = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
assert.equal(Buffer.from(part?.raw ?? '', 'base64').toString(), `${sum(picture)}  map.png\n${sum(letter)}  letter.txt\n`);

await node.close();
console.log('files: two out, one back');
