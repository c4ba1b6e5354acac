import { readFile } from 'node:fs/promises';
import type { ClientOptions } from '#client';
import type { Fetch } from '#protocol';
import { kept } from '#protocol';
import type { RunContext } from '../run-context.ts';
import { debugFetch } from './debug.ts';
import { ANSWER_LIMITS } from './limits.ts';
import { readServiceParameters } from './service-parameters.ts';
import { baseFetch } from './tls.ts';

/** The fetch of a command: with its TLS settings, and logged to standard error with `--debug`. */
export async function fetchFor(run: RunContext): Promise<Fetch> {
  const base = await baseFetch(run);
  return run.settings.isOn('debug') ? debugFetch(base, run.secrets) : base;
}

/** The headers of `--svc-param`. */
export function headersFor({ settings, secrets }: RunContext): Readonly<Record<string, string>> {
  const parameters = readServiceParameters(settings.list('svc-param'));
  for (const [, value] of parameters) secrets.add(value);
  return Object.fromEntries(parameters);
}

/** Adds headers to every request. For requests that no client makes. */
export function withHeaders(next: Fetch, added: Readonly<Record<string, string>>): Fetch {
  return async (request) => {
    const headers = new Headers(request.headers);
    for (const [name, value] of Object.entries(added)) headers.set(name, value);
    return await next(kept(new Request(request, { headers }), request.signal));
  };
}

/** The client's options that every command shares, strict or not. Credentials are added by the command. */
export async function commonOptions(run: RunContext): Promise<ClientOptions> {
  const { settings, signal } = run;
  return {
    fetch: await fetchFor(run),
    headers: headersFor(run),
    extensions: settings.list('extension'),
    trustOrigins: settings.list('trust-origin'),
    readFile: (path) => readFile(path.replace(/^~(?=\/)/, process.env['HOME'] ?? '~'), 'utf8'),
    signal,
    ...ANSWER_LIMITS,
  };
}
