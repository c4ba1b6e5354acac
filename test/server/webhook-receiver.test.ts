import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { jsonRequest, sendBody, startServer } from '../support/server.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/webhook-receiver/receiver.mjs', import.meta.url));

let node: NodeServer;
let child: ChildProcess;
let out = '';
beforeAll(async () => {
  node = await startServer({ allowLoopbackTargets: true });
  child = spawn(process.execPath, ['--conditions=our-src', EXAMPLE], {
    env: { ...process.env, AGENT: node.url, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  await eventually(() => out.includes('\n'));
});
afterAll(async () => {
  child.kill();
  await node.close();
});

describe('examples/webhook-receiver', () => {
  it('accepts deliveries of the agent and nothing else', async () => {
    const [url = ''] = out.split('\n');
    const configuration = { taskPushNotificationConfig: { url } };
    const answer = await fetch(jsonRequest(`${node.url}/message:send`, sendBody('chunks=2', { configuration })));
    expect(answer.status).toBe(200);
    await eventually(() => out.includes('TASK_STATE_COMPLETED'));
    expect(out.match(/^msg_/gm)).toHaveLength(3);
    const forged = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)), 'webhook-signature': 'v1a,AAAA' };
    for (const headers of [{}, forged]) expect((await fetch(jsonRequest(url, { statusUpdate: {} }, headers))).status).toBe(401);
    expect(out.match(/^msg_/gm)).toHaveLength(3);
  });
});
