import type { Fetch } from '#protocol';
import { A2AError } from '#protocol';
import type { Settings } from '#server';
import { createOutbound, OutboundError } from '../../server/adapters/outbound.ts';

export type OutboundSettings = Pick<Settings, 'allowedTargets' | 'allowLoopbackTargets'>;

/** The client has limits of its own, and a stream may stay open for weeks. This is the longest time that a timer of Node can have. */
const LIMITS = { bytesMax: Number.MAX_SAFE_INTEGER, msMax: 2_147_483_647 };

/**
 * The fetch for agents elsewhere. The operator named their addresses, so these may be anywhere, also on this machine. Everything else that
 * is called was named by a card or by an answer, and must pass the outbound policy.
 */
export function guardedFetchFor(named: readonly string[], { allowedTargets, allowLoopbackTargets }: OutboundSettings): Fetch {
  const guarded = createOutbound({ allowedTargets, allowLoopbackTargets, namedUrls: named }).fetchWithin(LIMITS);
  return async (request) => {
    try {
      return await guarded(request);
    } catch (cause) {
      if (!(cause instanceof OutboundError) || cause.reason !== 'target') throw cause;
      const why = `the agent’s card names an address that this node must not call (${cause.message})`;
      throw new A2AError('UNAVAILABLE', `${why}; its operator can allow it with --allow-target`, { cause });
    }
  };
}
