import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect as connectTcp, isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { connect as connectTls, createSecureContext, rootCertificates } from 'node:tls';
import { platformFetch } from '#bindings';
import type { Fetch } from '#protocol';
import { grpcOverHttp2 } from '../../bindings/grpc/adapters/http2.ts';
import { fetchOverHttp1 } from '../../client/adapters/http1.ts';
import { CliError, usage } from '../command.ts';
import type { RunContext } from '../run-context.ts';
import type { CliSettings } from '../settings/settings.ts';
import { likePlatform } from './plain-fetch.ts';

/** The platform's fetch; one with its own TLS settings if any are asked for. Only trusted origins see the client certificate. */
export async function baseFetch({ settings, certificateOrigins }: Pick<RunContext, 'settings' | 'certificateOrigins'>): Promise<Fetch> {
  const insecure = settings.isOn('insecure');
  const [ca, cert, key] = ['ca', 'cert', 'cert-key'].map((name) => pem(settings, name));
  if ((cert === undefined) !== (key === undefined))
    throw usage('--cert and --cert-key belong together', 'set both: the certificate and its private key');
  if (!insecure && ca === undefined && cert === undefined) return platformFetch;
  checkPair(cert, key);
  const verified = { rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }) };
  const certified = cert === undefined || key === undefined ? verified : { ...verified, cert, key };
  const overHttp1 = (options: ConnectionOptions) =>
    fetchOverHttp1({ connect: async (origin) => socketTo(origin, { ...options, ALPNProtocols: ['http/1.1'] }) }).fetch;
  const anonymous = overHttp1(verified);
  const known = certified === verified ? anonymous : overHttp1(certified);
  const isKnown = (url: URL): boolean => certificateOrigins.has(url.origin);
  const fetch = likePlatform((request) => (isKnown(new URL(request.url)) ? known : anonymous)(request));
  return grpcOverHttp2(fetch, {
    connect: async (origin) => socketTo(origin, { ...(isKnown(origin) ? certified : verified), ALPNProtocols: ['h2'] }),
  }).fetch;
}

/** A connection. Whether it works is seen by its user. */
function socketTo({ protocol, hostname, port }: URL, options: ConnectionOptions): Socket {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'http:') return connectTcp({ host, port: Number(port || 80), noDelay: true });
  const named = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ ...options, ...named, host, port: Number(port || 443) }).setNoDelay(true);
}

/** A key that does not fit its certificate would fail only in the handshake. */
function checkPair(cert: string | undefined, key: string | undefined): void {
  if (cert === undefined || key === undefined) return;
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(`--cert and --cert-key can't be used: ${reason}`, {
      hint: 'both must be PEM files that belong together',
      exit: 2,
      cause,
    });
  }
}

/** The client certificate may go to the agent that the caller named, and to `--trust-origin`. */
export function trustCertificateTo({ settings, certificateOrigins }: RunContext, urls: readonly (string | undefined)[]): void {
  for (const url of [...urls, ...settings.list('trust-origin')])
    if (url !== undefined && URL.canParse(url)) certificateOrigins.add(new URL(url).origin);
}

/** Reads the PEM file that a flag names. Undefined: the flag is not given. */
function pem(settings: CliSettings, name: string): string | undefined {
  const path = settings.text(name);
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw usage(`--${name}: ${path} can't be read`, 'it must be a PEM file');
  }
}
