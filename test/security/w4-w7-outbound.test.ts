import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindCredentials, createOutbound } from '../../src/server/adapters/outbound.ts';
import { expectFigure } from '../support/figures.ts';

/** Listens on every address of this machine and records each request that gets through. */
let hits: { readonly path: string; readonly headers: IncomingMessage['headers'] }[] = [];
const canary = createServer((incoming, outgoing) => {
  hits.push({ path: incoming.url ?? '', headers: incoming.headers });
  answer(incoming, outgoing);
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => canary.listen(0, '::', resolve));
  ({ port } = canary.address() as AddressInfo);
});
afterAll(() => {
  canary.closeAllConnections();
  canary.close();
});

function answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
  switch (incoming.url) {
    case '/redirect':
      outgoing.writeHead(302, { Location: `http://127.0.0.1:${port}/secret` }).end();
      return;
    case '/endless':
      outgoing.writeHead(200);
      pour(outgoing);
      return;
    case '/packed':
      outgoing.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(Buffer.alloc(100_000)));
      return;
    case '/never':
      return;
    case '/drip':
      outgoing.writeHead(200).write('x');
      return;
    default:
      outgoing.end('ok');
  }
}

function pour(outgoing: ServerResponse): void {
  const chunk = Buffer.alloc(65_536);
  const more = (): void => {
    while (!outgoing.destroyed && outgoing.write(chunk));
    outgoing.once('drain', more);
  };
  more();
}

const LIMITS = { bytesMax: 16_384, msMax: 1000 };
const get = async (outbound: ReturnType<typeof createOutbound>, url: string): Promise<string> => {
  const response = await outbound.fetchWithin(LIMITS)(new Request(url));
  return `${response.status} ${await response.text()}`;
};

/** Spellings of this machine's addresses and of private addresses that a careless check does not recognise. */
const DISGUISES = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0x7f.0x0.0x0.0x1',
  '0177.0.0.1',
  '017700000001',
  '0177.1',
  '127.0.0.1.',
  '127.255.255.254',
  '0',
  '0.0.0.0',
  '1２7.0.0.1',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::7f00:1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::1]',
  'localhost',
  'localhost.',
  'LOCALHOST',
] as const;

const INSIDE = ['10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '198.18.0.1', '224.0.0.1', '240.0.0.1'];
const INSIDE_V6 = ['[fe80::1]', '[fc00::1]', '[fd12::1]', '[fec0::1]', '[ff02::1]', '[2001:db8::1]', '[::ffff:a00:1]', '[100::1]'];

describe('W7: a disguised address', () => {
  it('has at least 29 spellings', () => expect(new Set(DISGUISES).size).toBeGreaterThanOrEqual(29));

  for (const host of [...DISGUISES, ...INSIDE, ...INSIDE_V6]) {
    it(`${host} gets no request`, async () => {
      const outbound = createOutbound();
      hits = [];
      for (const scheme of ['http', 'https']) {
        for (const at of [`:${port}`, ':80', ':443', '']) {
          const url = `${scheme}://${host}${at}/secret`;
          await expect(get(outbound, url)).rejects.toMatchObject({ reason: 'target' });
          await expect(outbound.check(url)).rejects.toMatchObject({ reason: 'target' });
        }
      }
      expect(hits).toEqual([]);
      await outbound.close();
    });
  }

  it('control: with loopback allowed, the same spellings reach the server', async () => {
    const outbound = createOutbound({ allowLoopbackTargets: true });
    let reached = 0;
    for (const host of DISGUISES) {
      hits = [];
      await get(outbound, `http://${host}:${port}/secret`).catch(() => undefined);
      if (hits.length > 0) reached += 1;
    }
    expect(reached).toBeGreaterThanOrEqual(18);
    await outbound.close();
  });
});

describe('W6: a host name', () => {
  it('that resolves to a private address gets no request, whatever else it resolves to', async () => {
    hits = [];
    for (const answers of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['2606:2800:220:1::1', '::1'], ['::ffff:7f00:1'], ['10.0.0.1']]) {
      const outbound = createOutbound({ resolve: async () => answers });
      await expect(get(outbound, `https://rebind.example:${port}/`)).rejects.toMatchObject({ reason: 'target' });
      await expect(outbound.check(`https://rebind.example:${port}/`)).rejects.toMatchObject({ reason: 'target' });
      await outbound.close();
    }
    expect(hits).toEqual([]);
  });

  it('is resolved once, and the connection goes to the checked address', async () => {
    let asked = 0;
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    const outbound = createOutbound({
      allowedTargets: ['127.0.0.2/32'],
      resolve: async () => answers[Math.min(asked++, 1)] ?? [],
    });
    hits = [];
    expect(await get(outbound, `http://rebind.example:${port}/pinned`)).toBe('200 ok');
    expect(asked).toBe(1);
    expect(hits).toMatchObject([{ path: '/pinned', headers: { host: `rebind.example:${port}` } }]);
    await outbound.close();
    const again = createOutbound({ allowedTargets: ['127.0.0.2/32'], resolve: async () => ['127.0.0.1'] });
    await expect(get(again, `http://rebind.example:${port}/`)).rejects.toMatchObject({ reason: 'target' });
    expect(hits).toHaveLength(1);
    await again.close();
  });

  it('that does not resolve is a temporary failure and is not refused at registration', async () => {
    const outbound = createOutbound({ resolve: async () => Promise.reject(new Error('ENOTFOUND')) });
    await expect(get(outbound, 'https://nowhere.example/')).rejects.toMatchObject({ reason: 'name' });
    await outbound.check('https://nowhere.example/');
    await outbound.close();
  });
});

describe('a name that does not resolve', () => {
  const resolve = async (): Promise<readonly string[]> => Promise.reject(new Error('ENOTFOUND'));
  const WRONG = ['http://example.org/', 'http://internal/', 'https://example.org:22/', 'http://example.org:8080/'];

  it.each(WRONG)('is refused because of its URL: %s', async (url) => {
    const outbound = createOutbound({ resolve, allowedTargets: ['hooks.internal'] });
    await expect(outbound.check(url)).rejects.toMatchObject({ reason: 'target' });
    await expect(get(outbound, url)).rejects.toMatchObject({ reason: 'target' });
    await outbound.close();
  });

  it.each([{ allowedTargets: ['example.org', 'internal'] }, { allowedTargets: ['10.0.0.0/8'] }, { allowLoopbackTargets: true }])(
    'is taken where it, or what it may stand for, is allowed: %j',
    async (allowed) => {
      const outbound = createOutbound({ resolve, ...allowed });
      for (const url of WRONG) await outbound.check(url);
      await outbound.close();
    },
  );
});

describe('allowed targets', () => {
  it.each([
    [{ allowedTargets: ['127.0.0.0/8'] }, '127.0.0.1'],
    [{ allowedTargets: ['127.0.0.1'] }, '127.0.0.1'],
    [{ allowedTargets: ['localhost'] }, 'localhost.'],
    [{ allowLoopbackTargets: true }, '127.0.0.1'],
    [{ allowLoopbackTargets: true }, 'localhost'],
  ])('%j allows %s', async (options, host) => {
    const outbound = createOutbound(options);
    expect(await get(outbound, `http://${host}:${port}/`)).toBe('200 ok');
    await outbound.close();
  });

  it('are names, addresses or ranges', () => {
    for (const target of ['10.0.0.0/99', 'http://hooks.example', 'hooks.example:80', 'a b', '', '*', 'x'.repeat(300)]) {
      expect(() => createOutbound({ allowedTargets: [target] })).toThrow(/allowedTargets: /);
    }
  });

  it('allow nothing else', async () => {
    const outbound = createOutbound({ allowedTargets: ['10.0.0.0/8', 'hooks.example'], allowLoopbackTargets: true });
    for (const url of ['http://192.168.0.1/', 'https://169.254.169.254/', 'http://93.184.216.34/', 'https://93.184.216.34:22/']) {
      await expect(get(outbound, url)).rejects.toMatchObject({ reason: 'target' });
    }
    for (const url of ['ftp://127.0.0.1/', `http://user:pass@127.0.0.1:${port}/`, `http://user@127.0.0.1:${port}/`]) {
      await expect(outbound.check(url)).rejects.toMatchObject({ reason: 'target' });
    }
    await outbound.close();
  });
});

describe('a response', () => {
  const open = (): ReturnType<typeof createOutbound> => createOutbound({ allowLoopbackTargets: true });

  it('W4: that redirects is a failure, and the redirect is not followed', async () => {
    const outbound = open();
    hits = [];
    await expect(get(outbound, `http://127.0.0.1:${port}/redirect`)).rejects.toMatchObject({ reason: 'redirect' });
    expect(hits.map(({ path }) => path)).toEqual(['/redirect']);
    await outbound.close();
  });

  it('W5: without end is not read to its end, and a compressed one is not decompressed', async () => {
    const outbound = open();
    const before = process.memoryUsage().rss;
    await expect(get(outbound, `http://127.0.0.1:${port}/endless`)).rejects.toMatchObject({ reason: 'size' });
    expectFigure(process.memoryUsage().rss - before, { below: 64 * 1_048_576 });
    await expect(get(outbound, `http://127.0.0.1:${port}/packed`)).rejects.toMatchObject({ reason: 'encoding' });
    expect(hits.at(-1)?.headers['accept-encoding']).toBe('identity');
    await outbound.close();
  });

  it('W2: that does not arrive or does not end fails after the timeout', async () => {
    const outbound = open();
    const began = performance.now();
    await expect(get(outbound, `http://127.0.0.1:${port}/never`)).rejects.toMatchObject({ reason: 'timeout' });
    await expect(get(outbound, `http://127.0.0.1:${port}/drip`)).rejects.toMatchObject({ reason: 'timeout' });
    expectFigure(performance.now() - began, { below: 4000 });
    await outbound.close();
  });
});

describe('credentials', () => {
  it('go only to the origin that they were configured for', async () => {
    const outbound = createOutbound({ allowLoopbackTargets: true });
    const fetch = bindCredentials(outbound.fetchWithin(LIMITS), {
      origin: `http://127.0.0.1:${port}/a2a`,
      headers: { Authorization: 'Bearer s3cret' },
    });
    hits = [];
    await fetch(new Request(`http://127.0.0.1:${port}/mine`));
    await fetch(new Request(`http://localhost:${port}/other`));
    expect(hits.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/mine', 'Bearer s3cret'],
      ['/other', undefined],
    ]);
    await outbound.close();
  });
});
