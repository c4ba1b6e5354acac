import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Auth, ClientOptions } from '#client';
import { A2AClient } from '#client';
import type { Fetch } from '#protocol';
import { usage } from '../command.ts';
import type { Parsed } from '../flags/parse.ts';
import { textOf } from '../flags/parse.ts';
import { localAuth, localToken } from '../local-token.ts';
import type { Secrets } from '../output/secrets.ts';
import { createSecrets } from '../output/secrets.ts';
import type { Settings } from '../settings/settings.ts';
import { resolveSettings } from '../settings/settings.ts';
import { tokenStore } from '../settings/tokens.ts';
import { withHost } from '../wire/address.ts';
import { debugFetch } from '../wire/debug.ts';
import type { About } from '../wire/failures.ts';
import { asCliError } from '../wire/failures.ts';
import { readTransports } from '../wire/interfaces.ts';
import { ANSWER_LIMITS } from '../wire/limits.ts';
import { readSvcParams } from '../wire/svc-params.ts';
import { baseFetch } from '../wire/tls.ts';

/** A run of one of the people's commands. */
export interface Run {
  readonly parsed: Parsed;
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
}

export function runOf(parsed: Parsed): Run {
  const settings = resolveSettings(parsed);
  const secrets = createSecrets();
  for (const name of ['bearer', 'api-key', 'basic']) secrets.add(settings.text(name));
  const timeoutMs = settings.durationMs('timeout');
  return { parsed, settings, secrets, signal: timeoutMs === undefined ? new AbortController().signal : AbortSignal.timeout(timeoutMs) };
}

export interface Reached {
  readonly client: A2AClient;
  readonly about: About;
}

/** Whatever it speaks. */
export async function reach(run: Run, given: string): Promise<Reached> {
  const { settings, signal } = run;
  const target = await named(withHost(given));
  const options = await clientOptions(run, target);
  const about: About = {
    url: target.url,
    agent: `-a ${given}`,
    authenticated: options.auth !== undefined,
    timeout: settings.text('timeout'),
  };
  if (settings.isOn('insecure')) process.stderr.write('warning: TLS certificates are not verified (--insecure)\n');
  try {
    return { client: await A2AClient.connect(target.url, { ...options, signal }), about };
  } catch (thrown) {
    throw asCliError(thrown, about);
  }
}

interface Target {
  readonly url: string;
  readonly token?: string | undefined;
}

/** A name of parley.config's remoteAgents, or the address itself. */
async function named(given: string): Promise<Target> {
  // `cards/agent.json` could be a host and a path; a file that is there is what was meant.
  if (/^[\w-].*\.json$/i.test(given) && existsSync(given)) return { url: `./${given}` };
  if (!/^[\w-]+$/.test(given) || given === 'localhost') return { url: given };
  const { remoteAgents } = await import('../remote/configured.ts');
  const found = (await remoteAgents()).find(({ name }) => name === given);
  return found === undefined ? { url: given } : { url: found.agentCardUrl ?? found.endpoint, token: found.authToken };
}

export async function clientOptions(run: Run, target: Target): Promise<ClientOptions> {
  const { parsed, settings, secrets } = run;
  const params = readSvcParams(settings.list('svc-param'));
  for (const [, value] of params) secrets.add(value);
  const fetch = await wireFor(run);
  const auth = await authFor(run, target, fetch);
  const dialect = textOf(parsed, 'dialect');
  const transport = textOf(parsed, 'transport');
  const [binding] = transport === undefined ? [] : readTransports([transport]);
  return {
    fetch,
    ...ANSWER_LIMITS,
    headers: Object.fromEntries(params),
    extensions: settings.list('extension'),
    trustOrigins: settings.list('trust-origin'),
    readFile: (path) => readFile(path.replace(/^~(?=\/)/, process.env['HOME'] ?? '~'), 'utf8'),
    ...(auth === undefined ? {} : { auth }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(binding === undefined ? {} : { binding: spoken(binding) }),
  };
}

/** Here it is the only one, so none can take its place. */
function spoken(binding: 'JSONRPC' | 'HTTP+JSON' | 'GRPC'): 'JSONRPC' | 'HTTP+JSON' {
  if (binding !== 'GRPC') return binding;
  throw usage('--transport: gRPC is not spoken here', 'one of: JSONRPC, HTTP+JSON (or rest)');
}

export async function wireFor({ settings, secrets }: Run): Promise<Fetch> {
  const base = await baseFetch(settings);
  return settings.isOn('debug') ? debugFetch(base, secrets) : base;
}

async function authFor({ settings, secrets, signal }: Run, { url, token }: Target, fetch: Fetch): Promise<Auth | undefined> {
  const apiKey = settings.text('api-key');
  const [user, ...password] = settings.text('basic')?.split(':') ?? [];
  if (apiKey !== undefined) return { apiKey };
  if (user !== undefined) return { basic: { user, password: password.join(':') } };
  const bearer = settings.text('bearer') ?? token ?? (await loggedIn(url, { fetch, signal })) ?? (await ofThisMachine(url));
  secrets.add(bearer);
  if (bearer !== undefined) return { bearer };
  const own = localToken(url);
  secrets.add(own);
  return own === undefined ? undefined : localAuth(own);
}

async function loggedIn(url: string, getting: { readonly fetch: Fetch; readonly signal: AbortSignal }): Promise<string | undefined> {
  const store = tokenStore();
  const full = /^https?:/.test(url) ? url : `http://${url}`;
  const login = URL.canParse(full)
    ? (store.find(new URL(full).origin) ?? store.find(new URL(full).origin.replace('http:', 'https:')))
    : undefined;
  if (login === undefined) return undefined;
  const { accessToken } = await import('../auth/tokens.ts');
  return await accessToken(login, { ...getting, store });
}

async function ofThisMachine(url: string): Promise<string | undefined> {
  const { localToken } = await import('../local-token.ts');
  return localToken(url);
}
