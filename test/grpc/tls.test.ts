import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { connect as connectTls } from 'node:tls';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messageId } from '#protocol';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { run } from '../cli/run.ts';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { grpcClient } from '../support/grpc.ts';
import { frame, PREFACE, SETTINGS } from '../support/http2-frames.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { opened, startServer } from '../support/server.ts';

/** One port with TLS: the client chooses HTTP/2 or HTTP/1.1 in the handshake (ALPN). */
suiteNeeding('openssl', hasOpenssl, 'HTTP/1.1, HTTP/2 and gRPC over TLS on one port', () => {
  const folder = scratchFolder();
  const authority = createAuthority(folder, 'ours');
  const node = authority.issue('node', 'DNS:localhost,IP:127.0.0.1');
  const planner = authority.issue('planner', 'URI:spiffe://acme.example/planner');
  const ca = readFileSync(authority.ca);
  const files = ['--tls-cert', node.cert, '--tls-key', node.key];
  let server: Parley;
  let port = 0;
  beforeAll(async () => {
    server = await parleyServe({ args: ['echo', '--memory', '--no-auth', ...files] });
    port = Number(new URL(server.url).port);
  });
  afterAll(async () => void (await server.stop()));

  /** What the server chooses of these protocols. False: none. */
  async function chosen(ALPNProtocols: string[] | undefined, at = port): Promise<unknown> {
    const socket: TLSSocket = connectTls({ port: at, host: '127.0.0.1', ca, ...(ALPNProtocols === undefined ? {} : { ALPNProtocols }) });
    await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    socket.destroy();
    return socket.alpnProtocol;
  }

  it('the handshake chooses HTTP/2 where the client has it', async () => {
    expect(await chosen(['h2', 'http/1.1'])).toBe('h2');
    expect(await chosen(['h2'])).toBe('h2');
    expect(await chosen(['http/1.1'])).toBe('http/1.1');
    expect(await chosen(undefined)).toBe(false);
  });

  it.each([
    ['--http2', '2 200'],
    ['--http1.1', '1.1 200'],
    ['--no-alpn', '1.1 200'],
  ])('curl %s reads the card', (flag, expected) => {
    const args = ['-s', '--cacert', authority.ca, flag, '-o', '/dev/null', '-w', '%{http_version} %{http_code}'];
    expect(execFileSync('curl', [...args, `${server.url}/.well-known/agent-card.json`], { encoding: 'utf8' })).toBe(expected);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['half of a handshake', Buffer.from([22, 3, 1, 2, 0, 1, 0])],
  ])('a client that sends %s is disconnected', async (_, bytes) => {
    const tls = { cert: readFileSync(node.cert), key: readFileSync(node.key) };
    const hasty = await startServer({ tls, limits: { headerMsMax: 300 } });
    const socket = await opened(hasty.port);
    const closed = new Promise<void>((resolve) => socket.resume().once('close', () => resolve()));
    socket.write(bytes);
    await closed;
    expect(await chosen(['h2', 'http/1.1'], hasty.port)).toBe('h2');
    await hasty.close();
  });

  it('a client in the handshake does not delay the shutdown', async () => {
    const tls = { cert: readFileSync(node.cert), key: readFileSync(node.key) };
    const patient = await startServer({ tls, limits: { headerMsMax: 1_000_000, requestMsMax: 1_000_000 } });
    const socket = await opened(patient.port);
    const closed = new Promise<void>((resolve) => socket.resume().once('close', () => resolve()));
    await chosen(undefined, patient.port); // the node has accepted the first connection, too
    await patient.close();
    await closed;
  });

  it.each([undefined, ['http/1.1']])(
    'a client that did not choose HTTP/2 in the handshake (%s) may not begin it',
    async (ALPNProtocols) => {
      const socket = connectTls({ port, host: '127.0.0.1', ca, ...(ALPNProtocols === undefined ? {} : { ALPNProtocols }) });
      socket.write(Buffer.concat([PREFACE, frame(SETTINGS)]));
      let text = '';
      for await (const piece of socket.setEncoding('latin1')) text += piece;
      expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nX-Content-Type-Options: nosniff/);
    },
  );

  it('node:http2 reads the card, which names gRPC at this port', async () => {
    const session = connectHttp2(server.url, { ca });
    const stream = session.request({ ':path': '/.well-known/agent-card.json' });
    let text = '';
    for await (const piece of stream.setEncoding('utf8')) text += piece;
    session.close();
    expect(JSON.parse(text).supportedInterfaces).toContainEqual({
      url: `127.0.0.1:${port}`,
      protocolBinding: 'GRPC',
      protocolVersion: '1.0',
    });
  });

  it.each([
    ['1.0', CODEC_V10],
    ['0.3', CODEC_V03],
  ])('the official gRPC client calls A2A %s', async (_, codec) => {
    const client = grpcClient(port, codec, { tls: credentials.createSsl(ca) });
    const request = { message: { messageId: messageId(crypto.randomUUID()), role: 'ROLE_USER' as const, parts: [{ text: 'hello' }] } };
    expect(await client.call('send', request)).toMatchObject({ task: { artifacts: [{ parts: [{ text: 'hello' }] }] } });
    const stream = client.stream('stream', { message: { ...request.message, messageId: messageId(crypto.randomUUID()) } });
    expect(await stream.ended).toMatchObject({ code: 0 });
    expect(stream.events.length).toBeGreaterThan(1);
    client.close();
  });

  it.each(['grpc', 'jsonrpc', 'http+json'])('our client calls by %s, with the card and without', async (transport) => {
    const trust = ['--ca', authority.ca, '--transport', transport];
    for (const target of [
      ['-a', server.url],
      ['-e', transport === 'jsonrpc' ? `${server.url}/a2a` : server.url],
    ]) {
      const ran = await run(['send', ...target, ...trust, 'hello']);
      const said = ran.err.replace(/^waiting for an answer of .*\n/, ''); // on a busy machine
      expect([ran.code, said, ran.out]).toEqual([0, '', expect.stringContaining('hello')]);
    }
  });

  describe('with client certificates', () => {
    it('a gRPC caller is who its certificate says', async () => {
      const data = ['--data', `${folder}/data`, '--auth-folder', folder];
      const strict = await parleyServe({ args: ['echo', ...data, ...files, '--tls-ca', authority.ca] });
      const at = Number(new URL(strict.url).port);
      const nobody = grpcClient(at, CODEC_V10, { tls: credentials.createSsl(ca) });
      const known = grpcClient(at, CODEC_V10, { tls: credentials.createSsl(ca, readFileSync(planner.key), readFileSync(planner.cert)) });
      expect(await nobody.refusal('list', {})).toMatchObject({ code: 16 });
      expect(await known.call('list', {})).toMatchObject({ totalSize: 0 });
      nobody.close();
      known.close();
      await strict.stop();
    });
  });
});
