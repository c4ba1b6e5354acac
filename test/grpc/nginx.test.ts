import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Requests } from '#protocol';
import { messageId, taskId } from '#protocol';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { run } from '../cli/run.ts';
import type { Authority } from '../support/certificates.ts';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import type { GrpcClient } from '../support/grpc.ts';
import { grpcClient } from '../support/grpc.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { RunningNginx } from '../support/nginx.ts';
import { locationsOfGuide, NGINX, startNginx } from '../support/nginx.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';

/** docs/guides/behind-a-proxy.md, with its own configuration, behind a real nginx. */
suiteNeeding('nginx and openssl', NGINX !== undefined && hasOpenssl, 'gRPC behind nginx', () => {
  const folder = scratchFolder();
  let authority: Authority;
  let node: Parley;
  let nginx: RunningNginx;
  let port = 0;
  let client: GrpcClient;
  beforeAll(async () => {
    authority = createAuthority(folder, 'ours');
    const { cert, key } = authority.issue('proxy', 'DNS:localhost,IP:127.0.0.1');
    port = await freePort();
    const flags = ['--insecure-behind-proxy', '--trust-proxy', '127.0.0.1', '--url', `https://localhost:${port}`];
    node = await parleyServe({ args: ['script', '--data', join(folder, 'data'), '--no-auth', ...flags] });
    nginx = await startNginx({ folder, port, cert, key, locations: locationsOfGuide(`127.0.0.1:${node.port}`) });
    client = overTls(CODEC_V10);
  });
  afterAll(async () => {
    client?.close();
    await nginx?.stop();
    await node?.stop();
  });

  const overTls = (codec: typeof CODEC_V10): GrpcClient =>
    grpcClient(port, codec, { tls: credentials.createSsl(readFileSync(authority.ca)), authority: `localhost:${port}` });
  const say = (text: string): Requests['send'] => ({
    message: { messageId: messageId(crypto.randomUUID()), role: 'ROLE_USER', parts: [{ text }] },
  });

  it('the guide has a location for HTTP and one for gRPC', () => {
    expect(locationsOfGuide('').map((block) => block.split('\n')[1]?.trim())).toEqual(['proxy_pass http://;', 'grpc_pass grpc://;']);
  });

  it.each([
    ['1.0', CODEC_V10],
    ['0.3', CODEC_V03],
  ])('calls of A2A %s, their errors and their details pass', async (_, codec) => {
    const caller = overTls(codec);
    const { task } = await caller.call('send', say('chunks=2'));
    expect(await caller.call('get', { id: taskId(task?.id ?? '') })).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect(await caller.refusal('get', { id: taskId('nope') })).toMatchObject({
      code: 5,
      error: { kind: 'TASK_NOT_FOUND', details: { info: { taskId: 'nope' } } },
    });
    caller.close();
  });

  it('events arrive while the stream is open, and a cancelled call ends it', async () => {
    const stream = client.stream('stream', say('chunks=100000 delay=20'));
    await eventually(() => expect(stream.events.length).toBeGreaterThan(3));
    stream.cancel();
    expect(await stream.ended).toMatchObject({ code: 1 });
    await eventually(async () => expect(await (await fetch(`${node.url}/metrics`)).text()).toMatch(/^parley_streams_open 0$/m));
    const id = taskId(stream.events[0]?.event.task?.id ?? '');
    expect((await client.call('cancel', { id })).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('deadlines, health checks and reflection pass', async () => {
    const late = client.stream('stream', say('sleep=60000'), { timeoutMs: 300 });
    expect(await late.ended).toMatchObject({ code: 4 });
    expect(await client.raw('/grpc.health.v1.Health/Check', new Uint8Array(0))).toMatchObject({ code: 0, bytes: Uint8Array.of(8, 1) });
    const list = await client.raw('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', Uint8Array.of(0x3a, 0));
    expect(Buffer.from(list.bytes ?? []).toString('latin1')).toContain('lf.a2a.v1.A2AService');
  });

  it('Connect works by the location of HTTP', () => {
    const url = `${nginx.url}/agents/script/lf.a2a.v1.A2AService/SendMessage`;
    const body = JSON.stringify(say('chunks=1'));
    const args = ['-s', '--cacert', authority.ca, '-H', 'Content-Type: application/json', '-d', body, url];
    expect(execFileSync('curl', args, { encoding: 'utf8' })).toContain('TASK_STATE_COMPLETED');
  });

  it.each(['grpc', 'jsonrpc', 'http+json'])('our client finds the card and calls by %s', async (transport) => {
    const ran = await run(['send', '-a', nginx.url, '--transport', transport, '--ca', authority.ca, 'chunks=3']);
    expect([ran.code, ran.err, ran.out]).toEqual([0, '', expect.stringContaining('chunk 3')]);
  });
});
