import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect as connectTcp, isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { connect as connectTls, createSecureContext, rootCertificates } from 'node:tls';
import { platformFetch } from '#bindings';
import type { Fetch } from '#protocol';
import { grpcOverHttp2 } from '../../bindings/grpc/adapters/http2.ts';
import { CliError, usage } from '../command.ts';
import type { RunContext } from '../run-context.ts';
import type { CliSettings } from '../settings/settings.ts';

/** The platform's fetch; one with its own TLS settings if any are asked for. Only trusted origins see the client certificate. */
export async function baseFetch({ settings, certificateOrigins }: Pick<RunContext, 'settings' | 'certificateOrigins'>): Promise<Fetch> {
  const insecure = settings.isOn('insecure');
  const [ca, cert, key] = ['ca', 'cert', 'cert-key'].map((name) => pem(settings, name));
  if ((cert === undefined) !== (key === undefined))
    throw usage('--cert and --cert-key belong together', 'set both: the certificate and its private key');
  if (!insecure && ca === undefined && cert === undefined) return platformFetch;
  checkPair(cert, key);
  const { Agent, fetch: undiciFetch } = await import('undici');
  const verified = { rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }) };
  const anonymous = new Agent({ connect: verified });
  const certified = cert === undefined || key === undefined ? verified : { ...verified, cert, key };
  const known = certified === verified ? anonymous : new Agent({ connect: certified });
  const overHttp1: Fetch = async (request) => {
    const { method, headers, body, signal, redirect } = request;
    const dispatcher = certificateOrigins.has(new URL(request.url).origin) ? known : anonymous;
    const init = { method, headers: [...headers], signal, redirect, dispatcher };
    // undici declares its own Response type, which has the same members.
    const answer = await undiciFetch(request.url, body === null ? init : { ...init, body: await request.arrayBuffer() });
    return answer as unknown as Response;
  };
  return grpcOverHttp2(overHttp1, {
    connect: async (origin) => socketTo(origin, certificateOrigins.has(origin.origin) ? certified : verified),
  }).fetch;
}

/** A connection for gRPC. Whether it works is seen by its user. */
function socketTo({ protocol, hostname, port }: URL, options: ConnectionOptions): Socket {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'http:') return connectTcp({ host, port: Number(port || 80) });
  return connectTls({
    ...options,
    host,
    port: Number(port || 443),
    ALPNProtocols: ['h2'],
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
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
