import type { Agent, Clock, ContextId } from '#protocol';
import type { Owner } from '../ports.ts';

/**
 * The conversation state that an agent's `open` made for a context: made once, kept while it is used and for a while after, made anew
 * when it is wanted again. It is the agent's own; nothing of it is stored. Callers choose context ids, so it belongs to one owner:
 * the same id from another caller is another conversation.
 */
export interface Contexts {
  /** Until `release` it is not let go of, however long that takes. */
  use(of: ContextOf, agent: Agent): Promise<Lease>;
  sweep(): void;
  /** Lets go of all that nobody uses. */
  clear(): void;
  readonly size: number;
}

export interface ContextOf {
  readonly owner: Owner;
  readonly agent: string;
  readonly contextId: ContextId;
}

export interface Lease {
  readonly conversation: unknown;
  release(): void;
}

interface Held {
  readonly conversation: Promise<unknown>;
  users: number;
  usedAt: number;
}

interface ContextsOptions {
  readonly clock: Clock;
  readonly openMax: number;
  readonly msMax: number;
  readonly report: (what: string, cause: unknown) => void;
}

export function createContexts(options: ContextsOptions): Contexts {
  const { clock, openMax, msMax, report } = options;
  const ticks = (): number => clock.ticks?.() ?? clock.now().getTime();
  // A Map keeps insertion order, and every use puts its context at the end: the first is the one unused for longest.
  const held = new Map<string, Held>();

  const letGo = (key: string, context: Held): void => {
    held.delete(key);
    context.conversation.then(dispose).catch((thrown: unknown) => report('a conversation could not be disposed of', thrown));
  };
  const makeRoom = (): void => {
    for (const [key, context] of held) {
      if (held.size <= openMax) return;
      if (context.users === 0) letGo(key, context);
    }
  };

  return {
    use: async ({ owner, agent: name, contextId }, agent) => {
      const key = JSON.stringify([owner.tenant, owner.principal, name, contextId]);
      const context = held.get(key) ?? { conversation: open(agent, contextId), users: 0, usedAt: 0 };
      context.users += 1;
      held.delete(key);
      held.set(key, context);
      makeRoom();
      const release = (): void => {
        context.users -= 1;
        context.usedAt = ticks();
      };
      try {
        return { conversation: await context.conversation, release };
      } catch (thrown) {
        release();
        if (held.get(key) === context) held.delete(key);
        throw thrown;
      }
    },
    sweep: () => {
      const oldest = ticks() - msMax;
      for (const [key, context] of held) if (context.users === 0 && context.usedAt < oldest) letGo(key, context);
      makeRoom();
    },
    clear: () => {
      for (const [key, context] of held) if (context.users === 0) letGo(key, context);
    },
    get size() {
      return held.size;
    },
  };
}

/** An `open` that throws is like one that rejects. */
async function open(agent: Agent, contextId: ContextId): Promise<unknown> {
  return agent.open?.(contextId);
}

async function dispose(conversation: unknown): Promise<void> {
  if (typeof conversation !== 'object' || conversation === null) return;
  const disposable = conversation as Partial<AsyncDisposable & Disposable>;
  await (disposable[Symbol.asyncDispose] ?? disposable[Symbol.dispose])?.call(conversation);
}
