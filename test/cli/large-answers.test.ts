import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '#agents';
import { A2AClient, isClientError } from '#client';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startServer } from '../support/server.ts';
import { run } from './run.ts';

/** As JSON, more than the default limit of a client, and less than the maximum artifact of a node. */
const CHARS = 9_000_000;
const large = defineAgent({
  name: 'large',
  description: 'Says much, of which JSON makes twice as much.',
  async *run() {
    yield '"'.repeat(CHARS);
  },
});

let node: NodeServer;
const folder = scratchFolder();
beforeAll(async () => {
  node = await startServer({ agents: [large] });
});
afterAll(() => node.close());

describe('the largest answer of a node', () => {
  it('is read by every command', async () => {
    const asked = await run(['ask', node.url, 'go']);
    expect([asked.code, asked.out.length, asked.err]).toEqual([0, CHARS + 1, '']);
    const listed = await run(['task', 'list', '-a', node.url]);
    const [, task = ''] = /Task: (\S+)/.exec(listed.out) ?? [];
    const got = await run(['task', 'get', '-a', node.url, task]);
    expect([got.code, got.err]).toEqual([0, '']);
    expect(got.out.length).toBeGreaterThan(CHARS);
    const fetched = await run(['task', 'download', '-a', node.url, task, '--dir', folder]);
    expect([fetched.code, fetched.err]).toEqual([0, '']);
    const [, path = ''] = /^File: (\S+)/m.exec(fetched.out) ?? [];
    expect(readFileSync(join(path)).length).toBe(CHARS);
  });

  it('is above the default limit of the client, whose error names the option', async () => {
    const client = await A2AClient.connect(node.url);
    const failed: unknown = await client
      .send('go')
      .result()
      .catch((thrown: unknown) => thrown);
    expect(isClientError(failed) && [failed.kind, failed.hint]).toEqual(['too-large', expect.stringContaining('answerBytesMax')]);
    const taken = await A2AClient.connect(node.url, { answerBytesMax: 268_435_456 });
    expect((await taken.send('go').text()).length).toBe(CHARS);
  });
});
