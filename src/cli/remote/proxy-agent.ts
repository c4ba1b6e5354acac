import { appendFileSync } from 'node:fs';
import { proxyAgent } from '#agents';
import type { Settings } from '#server';
import { recording } from '#tools';
import type { FoundAgent } from '../../server/adapters/serve-configured.ts';
import type { ReachFlags } from './connect.ts';
import { reach, targetOf } from './connect.ts';

export interface ProxiedFlags extends ReachFlags {
  readonly name?: string;
  /** Where what is said to the origin, and what it answers, is written. */
  readonly record?: string;
}

/** An agent elsewhere, as one of this node's. Its name, if it has one in the configuration, is its name here. */
export async function proxied(given: string, settings: Pick<Settings, 'a2a'>, flags: ProxiedFlags = {}): Promise<FoundAgent> {
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
  return { agent, source: given };
}
