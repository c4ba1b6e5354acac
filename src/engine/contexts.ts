import type { Agent, Clock, ContextId } from '#protocol';

/**
 * The conversation state that an agent's `open` made for a context: made once, kept while it is used, made anew after a
 * restart. It is the agent's own; nothing of it is stored.
 */
export interface Contexts {
  get(agent: Agent, name: string, contextId: ContextId): Promise<unknown>;
  sweep(): void;
  readonly size: number;
}

export function createContexts(options: { readonly clock: Clock; readonly openMax: number; readonly msMax: number }): Contexts {
  const open = new Map<string, { readonly conversation: Promise<unknown>; usedAt: number }>();
  const sweep = (): void => {
    const oldest = options.clock.now().getTime() - options.msMax;
    for (const [key, held] of open) if (held.usedAt < oldest) open.delete(key);
  };
  return {
    get: (agent, name, contextId) => {
      if (agent.open === undefined) return Promise.resolve(undefined);
      const key = `${name}\n${contextId}`;
      const held = open.get(key);
      const conversation = held?.conversation ?? agent.open(contextId);
      // Deleted and set again: a Map keeps insertion order, so the first is the one unused for longest.
      open.delete(key);
      open.set(key, { conversation, usedAt: options.clock.now().getTime() });
      if (open.size > options.openMax) open.delete(open.keys().next().value ?? '');
      conversation.catch(() => open.delete(key));
      return conversation;
    },
    sweep,
    get size() {
      return open.size;
    },
  };
}
