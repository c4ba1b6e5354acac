import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import type { Fetch } from '#protocol';
import { kept } from '#protocol';
import { usage } from '../command.ts';
import type { CliSettings } from '../settings/settings.ts';

/** The platform's fetch; one with its own TLS settings if any are asked for. */
export async function baseFetch(settings: CliSettings): Promise<Fetch> {
  const insecure = settings.isOn('insecure');
  const [ca, cert, key] = ['ca', 'cert', 'cert-key'].map((name) => pem(settings, name));
  if ((cert === undefined) !== (key === undefined))
    throw usage('--cert and --cert-key belong together', 'set both: the certificate and its private key');
  if (!insecure && ca === undefined && cert === undefined) return (request) => fetch(kept(request));
  const { Agent, fetch: undiciFetch } = await import('undici');
  const dispatcher = new Agent({
    connect: {
      rejectUnauthorized: !insecure,
      ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
    },
  });
  return async (request) => {
    const { method, headers, body, signal, redirect } = request;
    const init = { method, headers: [...headers], signal, redirect, dispatcher };
    // undici declares its own Response type, which has the same members.
    const answer = await undiciFetch(request.url, body === null ? init : { ...init, body: await request.text() });
    return answer as unknown as Response;
  };
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
