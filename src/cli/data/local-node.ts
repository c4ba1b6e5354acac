import { connect as connectTcp, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { Fetch } from '#protocol';
import { fetchOverHttp1 } from '../../client/adapters/http1.ts';

/** How a command reaches a node that its own note names. */
export interface LocalNode {
  readonly url: string;
  readonly fetch: Fetch;
}

/**
 * Reaches a running node of this user on this machine: on a port, with TLS or without, or on a Unix socket. Its certificate is made for
 * the name that callers use, not for this address, so it is not verified here; nothing leaves the machine. There is no time limit: to
 * rewrite a large database takes minutes.
 */
export function reachLocal(noted: string): LocalNode {
  if (noted.startsWith('unix:')) {
    const path = noted.slice('unix:'.length);
    return { url: 'http://localhost', fetch: fetchOverHttp1({ connect: async () => connectTcp(path) }).fetch };
  }
  const url = new URL(noted);
  // A node that listens on every address names that.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.hostname === '[::]') url.hostname = '[::1]';
  const rejectUnauthorized = !isOwnAddress(bare(url));
  return { url: url.href, fetch: fetchOverHttp1({ connect: async (origin) => socketTo(origin, rejectUnauthorized) }).fetch };
}

function bare({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Whether a connection to this address can only end on this machine. */
function isOwnAddress(host: string): boolean {
  if (host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)) return true;
  return Object.values(networkInterfaces()).some((cards) => cards?.some(({ address }) => address === host));
}

function socketTo(origin: URL, rejectUnauthorized: boolean): Duplex {
  const host = bare(origin);
  const port = Number(origin.port || (origin.protocol === 'https:' ? 443 : 80));
  if (origin.protocol === 'http:') return connectTcp({ host, port });
  return connectTls({ host, port, rejectUnauthorized, ALPNProtocols: ['http/1.1'], ...(isIP(host) === 0 ? { servername: host } : {}) });
}
