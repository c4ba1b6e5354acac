import { appendFileSync } from 'node:fs';
import { proxyAgent } from '#agents';
import type { Settings } from '#server';
import { recording } from '#tools';
import type { FoundAgent } from '../../server/adapters/serve-configured.ts';
import type { ReachFlags } from './connect.ts';
import { reach, targetOf } from './connect.ts';
import type { OutboundSettings } from './guarded-fetch.ts';

/** Flags of a proxied agent. */
export interface ProxiedFlags extends ReachFlags {
  readonly name?: string;
  /** The file that records requests to the origin and its answers. */
  readonly record?: string;
}

/** Serves a remote agent as one of this node's agents, under its name in the configuration if it has one. */
export async function proxied(
  given: string,
  settings: Pick<Settings, 'a2a'> & OutboundSettings,
  flags: ProxiedFlags = {},
): Promise<FoundAgent> {
  const { service, card, verdict } = await reach(given, settings, flags);
  const { record } = flags;
  const name = flags.name ?? targetOf(given, settings).name;
  const heard = record === undefined ? service : recording(service, (exchange) => appendFileSync(record, `${JSON.stringify(exchange)}\n`));
  const agent = proxyAgent({
    service: heard,
    card,
    url: new URL(targetOf(given, settings).url).origin,
    ...(name === undefined ? {} : { name }),
    ...(verdict === undefined ? {} : { verdict }),
  });
  return { agent, source: given, ...(hasCredential(given, settings, flags) ? { lendsCredential: true } : {}) };
}

/** Any header may hold a credential, and so may the query of an address. */
function hasCredential(given: string, settings: Pick<Settings, 'a2a'>, flags: ProxiedFlags): boolean {
  const { url, auth, headers } = targetOf(given, settings, flags);
  return auth !== undefined || Object.keys(headers ?? {}).length > 0 || new URL(url).username !== '' || new URL(url).search !== '';
}
