import { readFile } from 'node:fs/promises';
import type { CardVerification } from '#client';
import { type A2AClient, isClientError } from '#client';
import type { A2AService, AgentCard, CardVerdict } from '#protocol';
import type { Settings } from '#server';
import type { AgentTarget } from '#tools';
import { reachAgent } from '#tools';
import { joseVerifier } from '../../protocol/adapters/jose.ts';
import { addressOf, isAddress } from '../agent/address.ts';
import { CliError } from '../command.ts';
import { localToken } from '../local-token.ts';
import type { OutboundSettings } from './guarded-fetch.ts';
import { guardedFetchFor } from './guarded-fetch.ts';

/** Flags for all remote agents of a command. */
export interface ReachFlags {
  /** `Name: value`. */
  readonly headers?: readonly string[];
  /** The environment variable with the bearer token. */
  readonly tokenEnv?: string;
  /** Only the user of this machine can use the agents, so the machine's token may be sent to the user's own nodes. */
  readonly forMe?: boolean;
  /** A JWKS file. Only cards signed by one of its keys are accepted. */
  readonly trustKeys?: string;
  /** The longest wait for one answer, in milliseconds. Default: `timeout` of the configured agent. */
  readonly timeoutMs?: number;
}

/** A remote agent that answered. */
export interface Reached {
  readonly service: A2AService;
  readonly card: AgentCard;
  readonly verdict?: CardVerdict;
}

/** Reads an address, or a name from `a2a.remoteAgents` with its settings. */
export function targetOf(given: string, settings: Pick<Settings, 'a2a'>, flags: ReachFlags = {}): AgentTarget {
  const known = settings.a2a.remoteAgents[given];
  if (known === undefined && !isAddress(given)) {
    const names = Object.keys(settings.a2a.remoteAgents);
    throw new CliError(`${given} is no address, and no agent of that name is configured`, {
      hint: `give an address as https://agent.example or localhost:41242${names.length === 0 ? '' : `, or one of ${names.join(', ')}`}`,
      exit: 2,
    });
  }
  const { tokenEnv, timeoutMs = known?.timeout } = flags;
  const url = known === undefined ? addressOf(given) : (known.agentCardUrl ?? known.endpoint);
  const token = known?.authToken ?? (flags.forMe === true ? localToken(url) : undefined);
  const auth = tokenEnv === undefined ? (token === undefined ? undefined : { token }) : { tokenEnv };
  return {
    url,
    ...(known === undefined ? {} : { name: given }),
    headers: Object.fromEntries((flags.headers ?? []).map(headerIn)),
    ...(auth === undefined ? {} : { auth }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/** A node that publishes a remote agent waits longer for its answer than the product's own clients, which give up after 30 s or more: its callers read the task. */
const ANSWER_MS_MAX = 600_000;

/** Connects to a remote agent by address or by its name in the configuration. */
export async function reach(given: string, settings: Pick<Settings, 'a2a'> & OutboundSettings, flags: ReachFlags = {}): Promise<Reached> {
  const target = { timeoutMs: ANSWER_MS_MAX, ...targetOf(given, settings, flags) };
  const verify = flags.trustKeys === undefined ? undefined : await verification(flags.trustKeys);
  try {
    const reached: { verdict?: CardVerdict } = {};
    const agent = await reachAgent(target, {
      env: process.env,
      client: { fetch: guardedFetchFor([target.url], settings), ...(verify === undefined ? {} : { verify }) },
      onConnected: ({ connection }: A2AClient) => {
        if (connection.signature !== undefined) reached.verdict = connection.signature;
      },
    });
    return { ...agent, ...reached };
  } catch (thrown) {
    throw unreachable(given, thrown);
  }
}

/** The error for an agent that can't be reached, with what to check. */
export function unreachable(given: string, thrown: unknown): CliError {
  if (!isClientError(thrown)) return new CliError(`${given}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  return new CliError(thrown.message, thrown.hint === undefined ? {} : { hint: thrown.hint });
}

/** Requires that the agent's card is signed with one of the keys in a file. */
async function verification(path: string): Promise<CardVerification> {
  let keys: unknown;
  try {
    keys = JSON.parse(await readFile(path, 'utf8'));
  } catch (thrown) {
    throw new CliError(`--trust-keys ${path}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { exit: 2 });
  }
  if (typeof keys !== 'object' || keys === null || !('keys' in keys) || !Array.isArray(keys.keys)) {
    throw new CliError(`--trust-keys ${path}: this is not a key set`, {
      hint: 'it must hold {"keys":[…]}, as /.well-known/jwks.json does',
      exit: 2,
    });
  }
  return { verifier: joseVerifier({ keys: keys.keys }) };
}

function headerIn(text: string): readonly [string, string] {
  const at = text.indexOf(':');
  if (at < 1) throw new CliError(`--header ${text}: must be 'Name: value'`, { exit: 2 });
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}
