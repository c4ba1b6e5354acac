import { bindingWords, findBinding } from '#bindings';
import type { Auth, ClientOptions } from '#client';
import { A2AClient } from '#client';
import type { Fetch } from '#protocol';
import { addressOf } from '../agent/address.ts';
import { commonOptions } from '../agent/client-options.ts';
import { loggedInToken } from '../agent/credentials.ts';
import type { CallDescription } from '../agent/errors.ts';
import { asCliError } from '../agent/errors.ts';
import { NO_TIMEOUT } from '../agent/limits.ts';
import { readAgentReference } from '../agent/target.ts';
import { trustCertificateTo } from '../agent/tls.ts';
import { readTransports } from '../agent/transports.ts';
import { quoted, repeatedFlags } from '../agent/words.ts';
import { usage } from '../command.ts';
import { textOf } from '../flags/parse.ts';
import { localAuth, localToken } from '../local-token.ts';
import type { RunContext } from '../run-context.ts';

/** An agent that `ask` or `chat` talks to. */
export interface ReachedAgent {
  readonly client: A2AClient;
  readonly call: CallDescription;
}

/** Connects to an agent of any dialect, with fallbacks and retries. */
export async function reachAgent(run: RunContext, given: string): Promise<ReachedAgent> {
  const { settings, signal } = run;
  const { target, followCards, configured } = await readAgentReference(given);
  trustCertificateTo(run, [addressOf(target)]);
  const options = await clientOptions(run, { url: target, token: configured?.authToken });
  const limits = timeLimits(run, configured?.timeout);
  const call: CallDescription = {
    url: target,
    agent: [`-a ${quoted(given)}`, ...repeatedFlags(settings)].join(' '),
    authenticated: options.auth !== undefined,
    timeout: settings.text('timeout'),
  };
  if (settings.isOn('insecure')) process.stderr.write('warning: TLS certificates are not verified (--insecure)\n');
  try {
    return { client: await A2AClient.connect(target, { ...options, ...limits, followCards }), call };
  } catch (thrown) {
    throw asCliError(signal.aborted ? signal.reason : thrown, call);
  }
}

/** An explicit limit replaces the default of the dialect. The run's signal ends calls after `--timeout`. */
function timeLimits({ settings }: RunContext, configuredMs: number | undefined): Pick<ClientOptions, 'timeoutMs' | 'idleMs'> {
  if (settings.durationMs('timeout') !== undefined) return NO_TIMEOUT;
  return configuredMs === undefined ? {} : { timeoutMs: configuredMs, idleMs: configuredMs };
}

interface AuthTarget {
  readonly url: string;
  /** The token of parley.config. */
  readonly token: string | undefined;
}

/** The client's options from the flags. */
async function clientOptions(run: RunContext, target: AuthTarget): Promise<ClientOptions> {
  const { parsed } = run;
  const common = await commonOptions(run);
  const auth = await authFor(run, target, common.fetch ?? globalThis.fetch);
  const dialect = textOf(parsed, 'dialect');
  const transport = textOf(parsed, 'transport');
  const [binding] = transport === undefined ? [] : readTransports([transport]);
  return {
    ...common,
    ...(auth === undefined ? {} : { auth }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(binding === undefined ? {} : { binding: supported(binding) }),
  };
}

/** Here `--transport` names the only binding, not a preference. */
function supported(binding: ReturnType<typeof readTransports>[number]): NonNullable<ClientOptions['binding']> {
  const known = findBinding(binding);
  if (known !== undefined) return known.protocolBinding;
  throw usage(`--transport ${binding.toLowerCase()} is not supported yet`, `use ${bindingWords()}`);
}

/**
 * The credentials, in this order: API key, user and password, bearer token (of the flag, the reference
 * or `auth login`), and the token of a node on this machine.
 */
async function authFor(run: RunContext, { url, token }: AuthTarget, fetch: Fetch): Promise<Auth | undefined> {
  const { settings, secrets } = run;
  const apiKey = settings.text('api-key');
  const [user, ...password] = settings.text('basic')?.split(':') ?? [];
  if (apiKey !== undefined) return { apiKey };
  if (user !== undefined) return { basic: { user, password: password.join(':') } };
  const bearer = settings.text('bearer') ?? token ?? (await loggedInToken(run, url, fetch));
  secrets.add(bearer);
  if (bearer !== undefined) return { bearer };
  const own = localToken(url);
  secrets.add(own);
  return own === undefined ? undefined : localAuth(own);
}
