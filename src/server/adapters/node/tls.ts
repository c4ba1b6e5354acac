import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import { BlockList, isIP } from 'node:net';
import { createSecureContext, TLSSocket, Server as TlsServer } from 'node:tls';
import type { Peer, PeerCertificate } from '#bindings';
import { withoutEndSlashes } from '#protocol';
import { namesIn } from '../../access/authentication/mtls.ts';
import { ConfigError } from '../../config/read-value.ts';

/** Certificate and key of a server, in PEM. */
export interface TlsOptions {
  /** The certificate, followed by intermediate ones. */
  readonly cert: string | Buffer;
  /** The private key. */
  readonly key: string | Buffer;
  /**
   * The certificate authority for client certificates, in PEM. Without it the server requests no client
   * certificates.
   */
  readonly ca?: string | Buffer | undefined;
}

/** The options of Node's https server. `hasHttp2`: clients may choose HTTP/2. */
export function httpsOptions({ cert, key, ca }: TlsOptions, hasHttp2 = false): ServerOptions {
  return {
    ...(hasHttp2 ? { ALPNProtocols: ['h2', 'http/1.1'] } : {}),
    cert,
    key,
    minVersion: 'TLSv1.2',
    // Public routes need no certificate. Authentication refuses other requests without one with a 401, not with a failed handshake.
    ...(ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: false }),
  };
}

/** Gives new connections another certificate. Throws if certificate and key do not belong together, or if the server has no TLS. */
export function replaceTls(server: object, tls: TlsOptions): void {
  if (!(server instanceof TlsServer)) throw new Error('this node has no TLS; that needs a restart');
  const { cert, key, ca } = tls;
  const context = ca === undefined ? { cert, key } : { cert, key, ca };
  createSecureContext(context);
  server.setSecureContext(context);
}

/** Reads the PEM files. Throws a ConfigError that names the file. */
export function readTls(paths: { readonly cert: string; readonly key: string; readonly ca?: string | undefined }): TlsOptions {
  const cert = readPem('tls.cert', paths.cert);
  const key = readPem('tls.key', paths.key);
  const ca = paths.ca === undefined ? undefined : readPem('tls.ca', paths.ca);
  return ca === undefined ? { cert, key } : { cert, key, ca };
}

function readPem(name: string, path: string): Buffer {
  let text: Buffer;
  try {
    text = readFileSync(path);
  } catch (thrown) {
    throw new ConfigError(`${name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  if (text.includes('-----BEGIN ')) return text;
  throw new ConfigError(`${name}: ${path} is not a PEM file`);
}

/** What a request tells about its client: of HTTP/1.1, or of a stream of HTTP/2. */
export interface ReceivedHead {
  readonly socket: Socket;
  readonly headers: IncomingHttpHeaders;
}

/** The client's address and certificate. */
export class NodePeer implements Peer {
  readonly #incoming: ReceivedHead;
  readonly #trusted: BlockList | undefined;

  /** `trusted`: proxies whose `X-Forwarded-For` header is trusted. */
  constructor(incoming: ReceivedHead, trusted: BlockList | undefined) {
    this.#incoming = incoming;
    this.#trusted = trusted;
  }

  get address(): string | undefined {
    return clientAddress(this.#incoming, this.#trusted);
  }

  get connection(): Peer['connection'] {
    const { remoteAddress, remotePort, localAddress, localPort } = this.#incoming.socket;
    if (remoteAddress === undefined || remotePort === undefined || localAddress === undefined || localPort === undefined) return undefined;
    return { remote: { address: remoteAddress, port: remotePort }, local: { address: localAddress, port: localPort } };
  }

  get certificate(): PeerCertificate | undefined {
    return certificateOf(this.#incoming.socket);
  }
}

const certificates = new WeakMap<Socket, PeerCertificate | 'none'>();

/**
 * The client certificate of a connection, parsed once. Undefined unless a configured authority signed
 * it.
 */
function certificateOf(socket: Socket): PeerCertificate | undefined {
  const known = certificates.get(socket);
  if (known !== undefined) return known === 'none' ? undefined : known;
  const shown = socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined;
  const read = shown === undefined ? undefined : readCertificate(shown);
  certificates.set(socket, read ?? 'none');
  return read;
}

/** Names and thumbprint of a client certificate. */
function readCertificate(certificate: X509Certificate): PeerCertificate {
  const thumbprint = Buffer.from(certificate.fingerprint256.replaceAll(':', ''), 'hex').toString('base64url');
  return { names: namesIn(certificate.subjectAltName), thumbprint };
}

/** The client's address: the last one in `X-Forwarded-For` that is not a trusted proxy. */
export function clientAddress(incoming: ReceivedHead, trusted: BlockList | undefined): string | undefined {
  const direct = directAddress(incoming.socket);
  if (trusted === undefined || direct === undefined || !isTrusted(direct, trusted)) return direct;
  const forwarded = String(incoming.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((text) => plain(text.trim()) ?? '');
  const stranger = forwarded.reverse().find((address) => isIP(address) === 0 || !isTrusted(address, trusted));
  return stranger !== undefined && isIP(stranger) !== 0 ? stranger : direct;
}

/** The prefix that a trusted proxy has removed from the path, as `/parley`. */
export function forwardedPrefix({ socket, headers }: ReceivedHead, trusted: BlockList | undefined): string | undefined {
  const given = headers['x-forwarded-prefix'];
  if (typeof given !== 'string' || trusted === undefined) return undefined;
  const direct = directAddress(socket);
  const prefix = withoutEndSlashes(given);
  return direct !== undefined && isTrusted(direct, trusted) && /^(?:\/[\w.~-]+){1,8}$/.test(prefix) ? prefix : undefined;
}

/** The address at the other end of the connection, which may be a proxy. Undefined for a Unix socket. */
export function directAddress({ remoteAddress }: Socket): string | undefined {
  return plain(remoteAddress);
}

export function isTrusted(address: string, trusted: BlockList): boolean {
  return trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Converts `::ffff:1.2.3.4`, an IPv4 address on an IPv6 socket, to `1.2.3.4`. */
function plain(address: string | undefined): string | undefined {
  return address?.startsWith('::ffff:') === true && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

/** Parses addresses and networks such as `10.0.0.0/8`. */
export function proxiesOf(list: readonly string[]): BlockList | undefined {
  if (list.length === 0) return undefined;
  const trusted = new BlockList();
  for (const item of list) {
    const [address = '', bits, ...more] = item.split('/');
    const family = isIP(address);
    const most = family === 6 ? 128 : 32;
    const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
    if (family === 0 || more.length > 0 || length < 0 || length > most) {
      throw new ConfigError(`trustedProxies: ${JSON.stringify(item)} is not an address or a network such as 10.0.0.0/8`);
    }
    trusted.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4');
  }
  return trusted;
}
