import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { afterAll, beforeAll, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteNeeding } from '../../support/needs.ts';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { goTool } from '../install.ts';

const VERSION = '1.9.3';
const tool = goTool(`grpcurl-${VERSION}`, { module: `github.com/fullstorydev/grpcurl@v${VERSION}`, command: 'cmd/grpcurl' });
const A2A = 'lf.a2a.v1.A2AService';

interface Ran {
  readonly code: number | string | null;
  readonly out: string;
  readonly err: string;
}

/** What operators try first: the command lines of docs/bindings.md, with the real program. It knows no A2A and learns all by reflection. */
suiteNeeding('Go', tool !== undefined, `their tool: grpcurl ${VERSION}`, () => {
  const folder = scratchFolder();
  let node: Parley;
  beforeAll(async () => {
    node = await parleyServe({ args: ['script', 'echo', '--memory', '--no-auth'] });
  });
  afterAll(async () => {
    await node?.stop();
  });

  const flags = (): readonly string[] => ['-plaintext', '-max-time', '30'];
  const grpcurl = (...args: readonly string[]): Promise<Ran> =>
    new Promise((resolve) => {
      execFile(tool?.program ?? '', [...flags(), ...args], (error, out, err) => resolve({ code: error?.code ?? 0, out, err }));
    });
  const call = (method: string, request: unknown, ...more: readonly string[]): Promise<Ran> =>
    grpcurl(...more, '-d', JSON.stringify(request), `127.0.0.1:${node.port}`, method);
  const say = (text: string) => ({ message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } });
  const sent = async (text: string): Promise<{ readonly id: string }> => {
    const { code, out, err } = await call(`${A2A}/SendMessage`, say(text));
    assert.equal(code, 0, err);
    return JSON.parse(out).task;
  };

  it('lists the services, and describes methods and messages', async () => {
    const { code, out, err } = await grpcurl(`127.0.0.1:${node.port}`, 'list');
    assert.deepEqual([code, err], [0, '']);
    assert.deepEqual(out.trim().split('\n').toSorted(), [
      'a2a.v1.A2AService',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
      A2A,
    ]);
    const method = await grpcurl(`127.0.0.1:${node.port}`, 'describe', `${A2A}.SendMessage`);
    assert.match(method.out, /rpc SendMessage \( \.lf\.a2a\.v1\.SendMessageRequest \) returns/);
    const message = await grpcurl('-msg-template', `127.0.0.1:${node.port}`, 'describe', 'lf.a2a.v1.Task');
    assert.match(message.out, /TASK_STATE_UNSPECIFIED/);
  });

  it('sends, reads, streams and cancels', async () => {
    const task = await sent('hello');
    const read = await call(`${A2A}/GetTask`, { id: task.id });
    assert.equal(JSON.parse(read.out).status.state, 'TASK_STATE_COMPLETED');
    const streamed = await call(`${A2A}/SendStreamingMessage`, say('chunks=3'));
    assert.deepEqual([streamed.code, streamed.out.match(/"artifactUpdate"/g)?.length], [0, 3]);
    const asked = await sent('ask');
    const canceled = await call(`${A2A}/CancelTask`, { id: asked.id });
    assert.equal(JSON.parse(canceled.out).status.state, 'TASK_STATE_CANCELED');
  });

  it('reaches another agent by tenant, and 0.3', async () => {
    const other = await call(`${A2A}/SendMessage`, { tenant: 'echo', ...say('chunks=3') });
    assert.match(other.out, /"text": "chunks=3"/);
    const old = await call('a2a.v1.A2AService/SendMessage', {
      request: { messageId: crypto.randomUUID(), role: 'ROLE_USER', content: [{ text: 'hello' }] },
    });
    assert.deepEqual([old.code, JSON.parse(old.out).task.status.state], [0, 'TASK_STATE_COMPLETED']);
  });

  it('shows errors with their details', async () => {
    const unknown = await call(`${A2A}/GetTask`, { id: 'nope' });
    assert.match(unknown.err, /Code: NotFound\n +Message: there is no task nope[\s\S]*a2a-protocol\.org[\s\S]*TASK_NOT_FOUND/);
    const invalid = await call(`${A2A}/SendMessage`, { message: { messageId: '1', role: 'ROLE_USER' } });
    assert.match(invalid.err, /Code: InvalidArgument[\s\S]*parts/);
    const slow = await grpcurl('-max-time', '1', '-d', JSON.stringify(say('sleep=20000')), `127.0.0.1:${node.port}`, `${A2A}/SendMessage`);
    assert.match(slow.err, /DeadlineExceeded/);
  });

  it('checks the health, and watches it until the node stops', async () => {
    const health = await call('grpc.health.v1.Health/Check', {});
    assert.equal(JSON.parse(health.out).status, 'SERVING');
    const none = await call('grpc.health.v1.Health/Check', { service: 'none' });
    assert.match(none.err, /Code: NotFound/);
    const stopped = await parleyServe({ args: ['echo', '--memory', '--no-auth'] });
    const watch = spawn(tool?.program ?? '', [...flags(), `127.0.0.1:${stopped.port}`, 'grpc.health.v1.Health/Watch']);
    let said = '';
    watch.stdout.on('data', (piece: Buffer) => {
      said += piece.toString();
    });
    const ended = new Promise((resolve) => watch.once('close', resolve));
    await eventually(() => assert.match(said, /"SERVING"/));
    assert.equal(await stopped.stop(), 0);
    await ended;
  });

  it('a node with keys refuses calls, and its health and reflection are open', async () => {
    const { key } = JSON.parse((await run(['keys', 'create', 'peer', '--auth-folder', folder, '--json'])).out);
    const closed = await parleyServe({ args: ['echo', '--memory', '--require-auth', '--auth-folder', folder] });
    const address = `127.0.0.1:${closed.port}`;
    const request = ['-d', JSON.stringify(say('hello')), address, `${A2A}/SendMessage`];
    assert.match((await grpcurl(...request)).err, /Code: Unauthenticated/);
    const allowed = await grpcurl('-H', `authorization: Bearer ${key}`, ...request);
    assert.deepEqual([allowed.code, allowed.err], [0, '']);
    assert.match((await grpcurl(address, 'list')).out, /lf\.a2a\.v1/);
    assert.match((await grpcurl(address, 'grpc.health.v1.Health/Check')).out, /SERVING/);
    assert.equal(await closed.stop(), 0);
  });
});
