import { randomBytes } from 'node:crypto';
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { connect as connectHttp2 } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpRequest } from '#bindings';
import { DEFAULT_SERVER_LIMITS } from '#server';
import { createDeliveryReports } from '../../src/server/adapters/replicas/delivery-reports.ts';
import { figuresOf } from '../../src/server/adapters/replicas/figures.ts';
import { createLinks } from '../../src/server/adapters/replicas/link-client.ts';
import type { LinkHost } from '../../src/server/adapters/replicas/link-host.ts';
import { openLinkHost } from '../../src/server/adapters/replicas/link-host.ts';
import type { LinkKeys } from '../../src/server/adapters/replicas/link-keys.ts';
import { LINK_IDENTITY, LINK_TLS, makeLinkKeys } from '../../src/server/adapters/replicas/link-keys.ts';
import { AWAY, DELIVERED, FACTS, LACKS, PROOF, writeFacts } from '../../src/server/adapters/replicas/link-wire.ts';
import { SILENT } from '../../src/server/observability/log.ts';
import { eventually } from '../support/eventually.ts';
import { opened } from '../support/server.ts';

const SECRET = randomBytes(32);
const FACTS_HEADER = writeFacts({ key: 'k', origin: 'https://agents.example', address: '203.0.113.9', prefix: '/parley' });
const HEAD = { ':method': 'GET', ':path': '/tasks?x=1', ':authority': 'agents.example', ':scheme': 'http', [FACTS]: FACTS_HEADER };

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A listener of a replica, whose database lists these others. */
async function hostFor(
  alive: readonly LinkKeys[],
  receiver = makeLinkKeys(),
): Promise<{ readonly host: LinkHost; readonly receiver: LinkKeys }> {
  const members = { isAlive: async (publicKey: string) => alive.some((keys) => keys.publicKey === publicKey) };
  const options = { host: '127.0.0.1', port: 0, secret: SECRET, publicKey: receiver.publicKey, log: SILENT, limits: DEFAULT_SERVER_LIMITS };
  const host = await openLinkHost({
    ...options,
    members: () => members,
    figures: () => '{"forwards":4,"takeovers":1}',
    give: async () => false,
    erase: async () => {},
    serviceOf: () => undefined,
  });
  closing.push(() => host.close());
  return { host, receiver };
}

/** Tells what it has received. */
function echoing(isServing = () => true): Parameters<LinkHost['serve']>[0] {
  const respond = async ({ method, path, query, origin, peer, forwarded, mountedAt, header }: HttpRequest) => {
    const seen = { method, path, query, origin, address: peer?.address, certificate: peer?.certificate, forwarded, mountedAt };
    return { status: 200, headers: {}, body: JSON.stringify({ ...seen, link: header === undefined }) };
  };
  return { respond, isServing, agents: [], admit: () => Promise.reject(new Error('no gRPC here')) };
}

interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  stream.end();
  const headers = await new Promise<IncomingHttpHeaders>((resolve, reject) => stream.once('response', resolve).once('error', reject));
  let body = '';
  for await (const piece of stream) body += String(piece);
  return { headers, body };
}

const addressOf = (host: LinkHost, { publicKey }: LinkKeys) => ({ link: `127.0.0.1:${host.port}`, publicKey });

function linksOf(keys: LinkKeys, secret: Uint8Array = SECRET): ReturnType<typeof createLinks> {
  const links = createLinks({ secret, keys, silentMsMax: 5000 });
  closing.push(() => links.close());
  return links;
}

describe('the link between replicas', () => {
  it('passes a request on with what its first replica knows of the caller', async () => {
    const sender = makeLinkKeys();
    const { host, receiver } = await hostFor([sender]);
    host.serve(echoing());
    const { headers, body } = await answerOf(await linksOf(sender).request(addressOf(host, receiver), HEAD));
    expect(headers[':status']).toBe(200);
    expect(JSON.parse(body)).toEqual({
      ...{ method: 'GET', path: '/tasks', query: 'x=1', origin: 'https://agents.example', address: '203.0.113.9' },
      ...{ forwarded: { retryKey: 'k' }, mountedAt: '/parley', link: false },
    });
  });

  it('says that its replica does not have the agent of a request, and answers nothing', async () => {
    const sender = makeLinkKeys();
    const { host, receiver } = await hostFor([sender]);
    host.serve(echoing());
    const facts = writeFacts({ key: 'k', agent: 'script', origin: 'https://agents.example' });
    const { headers, body } = await answerOf(await linksOf(sender).request(addressOf(host, receiver), { ...HEAD, [FACTS]: facts }));
    expect([headers[AWAY], headers[LACKS], body]).toEqual(['1', '1', '']);
  });

  it('refuses programs that do not know the secret of the database', async () => {
    const sender = makeLinkKeys();
    const { host, receiver } = await hostFor([sender]);
    await expect(linksOf(sender, randomBytes(32)).connect(addressOf(host, receiver))).rejects.toThrow();
    await linksOf(sender).connect(addressOf(host, receiver));
  });

  it('closes although a program that connected to it is silent', async () => {
    const { host } = await hostFor([]);
    const silent = await opened(host.port);
    const closed = new Promise<void>((resolve) => silent.resume().once('close', () => resolve()));
    const socket = connectTls({ port: host.port, host: '127.0.0.1', ...LINK_TLS, checkServerIdentity: () => undefined });
    await new Promise<void>((resolve) => socket.once('error', () => resolve())); // the host has accepted the first connection, too
    await host.close();
    await closed;
  });

  it('refuses a replica whose row in the database is gone', async () => {
    const sender = makeLinkKeys();
    const alive = [sender];
    const { host, receiver } = await hostFor(alive);
    host.serve(echoing());
    const links = linksOf(sender);
    expect((await answerOf(await links.request(addressOf(host, receiver), HEAD))).headers[':status']).toBe(200);
    alive.pop();
    expect((await answerOf(await links.request(addressOf(host, receiver), HEAD))).headers[':status']).toBe(401);
  });

  it('refuses a proof that was made for another connection or for another receiver', async () => {
    const [sender, other] = [makeLinkKeys(), makeLinkKeys()];
    const { host, receiver } = await hostFor([sender]);
    host.serve(echoing());
    const connection = async (): Promise<TLSSocket> => {
      const psk = { psk: SECRET, identity: LINK_IDENTITY };
      const socket = connectTls({
        ...LINK_TLS,
        port: host.port,
        host: '127.0.0.1',
        pskCallback: () => psk,
        checkServerIdentity: () => undefined,
      });
      await new Promise((resolve) => socket.once('secureConnect', resolve));
      closing.push(() => void socket.destroy());
      return socket;
    };
    const statusWith = async (socket: TLSSocket, proof: string): Promise<unknown> => {
      const session = connectHttp2('http://replica', { createConnection: () => socket });
      return (await answerOf(session.request({ ...HEAD, [PROOF]: proof }))).headers[':status'];
    };
    const [first, second, third] = [await connection(), await connection(), await connection()];
    const proof = sender.prove(first, receiver.publicKey);
    expect(await statusWith(second, proof)).toBe(401);
    expect(await statusWith(first, proof)).toBe(200);
    expect(await statusWith(third, sender.prove(third, other.publicKey))).toBe(401);
  });

  it('tells other replicas what this one counts, also before it serves, and nobody else', async () => {
    const [sender, stranger] = [makeLinkKeys(), makeLinkKeys()];
    const { host, receiver } = await hostFor([sender]);
    expect(await figuresOf(linksOf(sender), addressOf(host, receiver))).toEqual({ forwards: 4, takeovers: 1 });
    expect(await figuresOf(linksOf(stranger), addressOf(host, receiver))).toBe(undefined);
    const address = addressOf(host, receiver);
    await host.close();
    expect(await figuresOf(linksOf(sender), address)).toBe(undefined);
  });

  it('reports what callers have got with the next request, or after a short time without one', async () => {
    const sender = makeLinkKeys();
    const { host, receiver } = await hostFor([sender]);
    const marked: string[] = [];
    host.serve({
      ...echoing(),
      respond: async (request) => {
        const key = request.forwarded?.retryKey ?? '';
        request.onDelivered?.(() => void marked.push(key));
        return { status: 200, headers: {}, body: `answers ${key} after ${marked.join()}` };
      },
    });
    const [links, address] = [linksOf(sender), addressOf(host, receiver)];
    const reports = createDeliveryReports(links);
    const send = async (key: string): Promise<Answer> => {
      const facts = writeFacts({ key, origin: 'https://agents.example' });
      return answerOf(await links.request(address, { ...HEAD, [FACTS]: facts, ...reports.headers(address) }));
    };
    for (const key of ['a', 'b']) expect((await send(key)).headers[DELIVERED]).toBe('1');
    for (const key of ['a', 'b']) reports.add(address, key);
    expect((await send('c')).body).toBe('answers c after a,b');
    reports.add(address, 'c');
    await eventually(() => expect(marked).toEqual(['a', 'b', 'c']));
  });

  it('sends the sender elsewhere until the node serves', async () => {
    const sender = makeLinkKeys();
    const { host, receiver } = await hostFor([sender]);
    const links = linksOf(sender);
    const away = async (): Promise<unknown> => (await answerOf(await links.request(addressOf(host, receiver), HEAD))).headers[AWAY];
    expect(await away()).toBe('1');
    host.serve(echoing(() => true));
    expect(await away()).toBe(undefined);
  });
});
