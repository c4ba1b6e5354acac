import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CardFollower } from '#client';
import { catalogEntry } from '#client/strict';
import { usage } from '../command.ts';
import type { ConfiguredAgent } from '../remote/configured.ts';
import { passwordIn } from '../run-context.ts';
import { withHost } from './address.ts';

/** The agent that a command names, ready for the client. */
export interface AgentReference {
  /** An address, or the path of a card file. */
  readonly target: string;
  /** Follows redirects and catalogs to the card. */
  readonly followCards: CardFollower;
  /** The agent of parley.config that has this name. */
  readonly configured: ConfiguredAgent | undefined;
}

/**
 * Reads `--agent-card` or an AGENT argument: a host, a port of this machine, a URL, a file, or a name from `remoteAgents` of parley.config. A
 * fragment names an entry of a catalog (A2A CLI specification §3, A2ACLI_CARD_GET_005).
 */
export async function readAgentReference(given: string): Promise<AgentReference> {
  refusePassword(given);
  const mark = given.indexOf('#');
  const text = mark === -1 ? given : given.slice(0, mark);
  const followCards = catalogEntry(mark === -1 ? undefined : entryName(given.slice(mark + 1)));
  // `cards/agent.json` can be a host and a path. An existing file of that name wins.
  if (!/^(?:https?|file):/i.test(text) && existsSync(text)) return { target: resolve(text), followCards, configured: undefined };
  const named = withHost(text);
  const configured = await configuredAgent(named);
  return { target: configured?.agentCardUrl ?? configured?.endpoint ?? named, followCards, configured };
}

/** The name after `#`. One with a wrong percent escape is taken as it is. */
function entryName(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** A credential goes where a scheme of the card takes it, so the address has none. The error does not show it. */
export function refusePassword(address: string): void {
  if (passwordIn(address) === undefined && !/^https?:\/\/[^/]*@/i.test(address)) return;
  throw usage(
    'the address contains a user or a password',
    'leave them out of the address; for a basic scheme set A2ACLI_BASIC=user:password',
  );
}

/** Only a word without dots, slashes or colons can be a name from parley.config. */
async function configuredAgent(name: string): Promise<ConfiguredAgent | undefined> {
  if (!/^[\w-]+$/.test(name) || name === 'localhost') return undefined;
  const { remoteAgents } = await import('../remote/configured.ts');
  return (await remoteAgents()).find((remote) => remote.name === name);
}
