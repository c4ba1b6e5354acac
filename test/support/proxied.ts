import type { A2AService, Agent } from '#protocol';
import type { ProxyOptions } from '../../src/agents/proxy/proxy.ts';
import { proxyAgent } from '../../src/agents/proxy/proxy.ts';
import type { World } from './engine.ts';
import { world } from './engine.ts';

/** An origin and a proxy in front of it, each with its own engine. */
export async function proxied(
  origin: Agent,
  more: Partial<ProxyOptions> = {},
  wrap: (service: A2AService) => A2AService = (service) => service,
): Promise<{ readonly there: World; readonly here: World }> {
  const there = await world(origin);
  const service = wrap(there.service);
  const here = await world(proxyAgent({ service, card: origin.card, pollMs: 20, ...more }));
  return { there, here };
}
