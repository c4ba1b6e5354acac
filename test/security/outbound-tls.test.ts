import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOutbound } from '../../src/server/adapters/outbound.ts';
import { suiteNeeding } from '../support/needs.ts';
import { scratchFolder } from '../support/scratch.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const LIMITS = { bytesMax: 1024, msMax: 2000 };

/** A pinned connection goes to the checked address, and TLS on it verifies the name of the URL. */
suiteNeeding('openssl', hasOpenssl, 'TLS through the guard', () => {
  const folder = scratchFolder();
  const before = getCACertificates('default');
  const names: string[] = [];
  let server: Server;
  let port = 0;
  let cert = '';
  beforeAll(async () => {
    const [key, crt] = [join(folder, 'key.pem'), join(folder, 'crt.pem')];
    const subject = ['-subj', '/CN=hooks.example', '-addext', 'subjectAltName=DNS:hooks.example', '-days', '2'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', crt, ...subject], {
      stdio: 'ignore',
    });
    cert = readFileSync(crt, 'utf8');
    server = createServer({ key: readFileSync(key), cert }, (incoming, outgoing) => {
      names.push(String((incoming.socket as TLSSocket).servername));
      outgoing.end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => {
    setDefaultCACertificates([...before]);
    server.closeAllConnections();
    server.close();
  });

  const get = async (host: string): Promise<number> => {
    const outbound = createOutbound({ allowedTargets: ['127.0.0.1'], resolve: async () => ['127.0.0.1'] });
    try {
      return (await outbound.fetchWithin(LIMITS)(new Request(`https://${host}:${port}/`))).status;
    } finally {
      await outbound.close();
    }
  };

  it('refuses certificates that the system does not trust', async () => {
    await expect(get('hooks.example')).rejects.toMatchObject({ reason: 'network', message: /self-signed/ });
    expect(names).toEqual([]);
  });

  it('sends the host name and refuses a certificate for another name', async () => {
    setDefaultCACertificates([...before, cert]);
    expect(await get('hooks.example')).toBe(200);
    expect(await get('hooks.example.')).toBe(200);
    expect(names).toEqual(['hooks.example', 'hooks.example']);
    await expect(get('other.example')).rejects.toMatchObject({ reason: 'network' });
    await expect(get('127.0.0.1')).rejects.toMatchObject({ reason: 'network' });
    expect(names).toHaveLength(2);
  });
});
