import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { fakeAgent, taskOf } from './fake-agent.ts';
import { run } from './run.ts';

/** A node that requires the token of this machine, called by the user who started it, without flags or variables. */
const COMMANDER = fileURLToPath(new URL('../support/commander.ts', import.meta.url));
const home = scratchFolder();
const folder = join(home, 'auth');
const env = { PARLEY_AUTH_FOLDER: folder };
let node: Parley;
beforeAll(async () => {
  node = await parleyServe({ args: [COMMANDER, '--memory'], env });
});
afterAll(() => node.stop());

describe('the user of a node that requires a token', () => {
  it.each([
    ['ask', (): readonly string[] => ['ask', node.url, 'hello']],
    ['ask, without the scheme', () => ['ask', `127.0.0.1:${node.port}`, 'hello']],
    ['send', () => ['send', '-a', node.url, 'hello']],
    ['send to an endpoint', () => ['send', '-e', `${node.url}/a2a`, '--transport', 'JSONRPC', 'hello']],
    ['task list', () => ['task', 'list', '-a', node.url]],
    ['doctor', () => ['doctor', node.url, '--say', 'hello']],
    ['push ls', () => ['push', 'ls', '--url', node.url]],
  ])('types nothing else: %s', async (_, args) => {
    const ran = await run(args(), { env });
    expect([ran.code, ran.err], ran.out).toEqual([0, expect.not.stringMatching(/credential|token/)]);
  });

  it('as another user gets a hint', async () => {
    const other = { PARLEY_AUTH_FOLDER: join(home, 'nobody') };
    const asked = await run(['ask', node.url, 'hello'], { env: other });
    expect([asked.code, asked.err]).toEqual([4, expect.stringMatching(/A2ACLI_BEARER|--bearer/)]);
    const sent = await run(['send', '-a', node.url, 'hello'], { env: other });
    expect([sent.code, sent.err]).toEqual([4, expect.stringMatching(/A2ACLI_BEARER|--bearer/)]);
  });
});

describe('an agent of this machine that needs no credentials', () => {
  it('does not get the token', async () => {
    const agent = await fakeAgent({ on: { SendMessage: () => ({ result: { task: taskOf('COMPLETED') } }) } });
    await run(['send', '-a', agent.url, 'hello'], { env });
    await run(['ask', agent.url, 'hello'], { env });
    expect(agent.requests.length).toBeGreaterThan(3);
    expect(agent.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    await agent.close();
  });
});
