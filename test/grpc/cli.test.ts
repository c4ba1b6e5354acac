import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { ServerCredentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2AClient } from '#client';
import { guardedFetchFor } from '../../src/cli/remote/guarded-fetch.ts';
import { fakeAgent } from '../cli/fake-agent.ts';
import { run } from '../cli/run.ts';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import type { GrpcJsServer } from '../support/grpc-js-server.ts';
import { grpcJsServer } from '../support/grpc-js-server.ts';
import { suiteNeeding } from '../support/needs.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { builtIn } from '../support/server.ts';
import type { Talk } from '../support/talk.ts';
import { talkTo } from '../support/talk.ts';

let talk: Talk;
let server: GrpcJsServer;
beforeAll(async () => {
  talk = await talkTo(builtIn('script'));
  server = await grpcJsServer(talk.service);
});
afterAll(async () => {
  server.close();
  await talk.stop();
});

/** An HTTP server with nothing but a card, whose only interface is the gRPC server. */
const agentWithCard = () => fakeAgent({ card: () => ({ ...server.card, capabilities: { streaming: true } }), on: {} });

describe('the command line over gRPC', () => {
  it('ask streams the answer', async () => {
    const agent = await agentWithCard();
    const ran = await run(['ask', agent.url, 'chunks=3']);
    expect([ran.code, ran.out]).toEqual([0, expect.stringContaining('chunk 1chunk 2chunk 3')]);
    await agent.close();
  });

  it('send --debug shows the calls, without their bytes', async () => {
    const agent = await agentWithCard();
    const ran = await run(['send', '-a', agent.url, '--debug', 'hello']);
    expect([ran.code, ran.err]).toEqual([
      0,
      expect.stringMatching(/lf\.a2a\.v1\.A2AService\/SendStreamingMessage[\s\S]*bytes of protobuf/),
    ]);
    await agent.close();
  });

  it('send shows the message of a status that it does not know, decoded', async () => {
    const broken = createServer();
    const head = {
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': '1234',
      'grpc-message': '%ff 100 % gr%C3%B6%C3%9fer',
    };
    broken.on('stream', (stream) => stream.respond(head, { endStream: true }));
    await once(broken.listen(0, '127.0.0.1'), 'listening');
    const url = `127.0.0.1:${(broken.address() as AddressInfo).port}`;
    const supportedInterfaces = [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }];
    const agent = await fakeAgent({ card: { supportedInterfaces, capabilities: { streaming: true } }, on: {} });
    const ran = await run(['send', '-a', agent.url, '--debug', 'hello']);
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining('Error: � 100 % größer\n')]);
    expect(ran.err).toContain('grpc-message: � 100 % größer\n');
    broken.close();
    await agent.close();
  });

  it('doctor examines the interface', async () => {
    const agent = await agentWithCard();
    const ran = await run(['doctor', agent.url]);
    expect(ran.out).toContain(`GRPC 1.0 at ${server.address} answers`);
    await agent.close();
  });

  it('conformance tests the agent', async () => {
    const agent = await agentWithCard();
    const ran = await run(['conformance', '-a', agent.url, '--transport', 'grpc']);
    expect(ran.out).toContain('0 failed');
    expect([ran.code, server.calls.map(({ method }) => method)]).toEqual([0, expect.arrayContaining(['SendStreamingMessage', 'GetTask'])]);
    await agent.close();
  });

  it('ask names the interfaces of a card without gRPC, and what to leave out', async () => {
    const agent = await fakeAgent({ on: {} });
    const ran = await run(['ask', agent.url, '--transport', 'grpc', 'hello']);
    const message =
      /no GRPC interface that this client supports: it lists JSONRPC[\s\S]*Hint: leave out --transport to use another interface/;
    expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(message)]);
    await agent.close();
  });

  it('an address that is none is refused with an example', async () => {
    const ran = await run(['send', '-e', `${server.address}/a2a`, '--transport', 'grpc', 'hello']);
    expect([ran.code, ran.err]).toEqual([2, expect.stringMatching(/is not a host and a port[\s\S]*example: -e localhost:41242/)]);
  });

  it('a server without HTTP/2 is named with what to try', async () => {
    const agent = await agentWithCard();
    const ran = await run(['send', '-e', agent.url, '--transport', 'grpc', 'hello']);
    expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/HTTP\/2 [\s\S]*Hint: gRPC needs HTTP\/2: .*https:\/\//)]);
    await agent.close();
  });

  it('a server without TLS is called with http', async () => {
    const ran = await run(['send', '-e', `https://${server.address}`, '--transport', 'grpc', 'hello']);
    expect([ran.code, ran.err]).toEqual([3, expect.stringMatching(/Hint: the server does not speak TLS there: call it with http:/)]);
  });

  it('proxy serves the agent in other bindings', async () => {
    const agent = await agentWithCard();
    const proxy = await parleyServe({ command: ['proxy', agent.url], args: ['--memory', '--allow-loopback-targets'] });
    const client = await A2AClient.connect(proxy.url, { binding: 'JSONRPC' });
    expect((await client.send('hello').result()).task?.status.state).toBe('TASK_STATE_COMPLETED');
    await proxy.stop();
    await agent.close();
  });
});

describe('the outbound guard', () => {
  it('refuses a gRPC address on this machine, unless it is allowed', async () => {
    const settings = { allowedTargets: [], allowLoopbackTargets: false };
    const before = server.calls.length;
    const refused = await A2AClient.connect(server.card, { fetch: guardedFetchFor([], settings) });
    await expect(refused.send('hello').result()).rejects.toThrow(/must not call/);
    expect(server.calls.length).toBe(before);
    const allowed = await A2AClient.connect(server.card, { fetch: guardedFetchFor([], { ...settings, allowLoopbackTargets: true }) });
    expect((await allowed.send('hello').result()).task?.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

suiteNeeding('openssl', hasOpenssl, 'gRPC over TLS', () => {
  const folder = scratchFolder();
  let secure: GrpcJsServer;
  let ca = '';
  beforeAll(async () => {
    const authority = createAuthority(folder, 'ca');
    const { cert, key } = authority.issue('server', 'IP:127.0.0.1,DNS:localhost');
    ca = authority.ca;
    const pair = { cert_chain: readFileSync(cert), private_key: readFileSync(key) };
    secure = await grpcJsServer(talk.service, { credentials: ServerCredentials.createSsl(null, [pair]) });
  });
  afterAll(() => secure.close());

  it('is used with the authority that --ca names, and refused without it', async () => {
    const target = ['-e', `https://${secure.address}`, '--transport', 'grpc'];
    const trusted = await run(['send', ...target, '--ca', ca, 'hello']);
    expect([trusted.code, trusted.err]).toEqual([0, '']);
    const unknown = await run(['send', ...target, 'hello']);
    expect([unknown.code, unknown.err]).toEqual([3, expect.stringMatching(/certificate/)]);
  });
});
