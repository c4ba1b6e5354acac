import type { Agent, ContextId } from '#protocol';
import type { EngineClock } from '../engine-clock.ts';
import type { Owner } from '../ports.ts';

/**
 * The state that an agent's `open` returns for a context. It is opened once, kept while it is used and
 * for some time after, and opened again when needed. It belongs to the agent and is not stored. Callers
 * choose context ids, so each conversation belongs to one owner: the same id from another caller is
 * another conversation.
 */
export interface Conversations {
  /** The conversation stays open until `release`, however long that takes. */
  use(of: ConversationKey, agent: Agent): Promise<ConversationLease>;
  sweep(): void;
  /** Closes all conversations that are not in use, or those of one owner. */
  clear(owner?: Owner): void;
  /** Another process has these conversations from now on: they are closed, those in use as soon as they are not. */
  lose(isLost: (of: ConversationKey) => boolean): void;
  /** The conversations that are open. */
  all(): Iterable<ConversationKey>;
  readonly size: number;
}

/** Whose conversation, and with which agent. */
export interface ConversationKey {
  readonly owner: Owner;
  readonly agent: string;
  readonly contextId: ContextId;
}

/** A conversation in use. `release` must be called once. */
export interface ConversationLease {
  readonly conversation: unknown;
  release(): void;
}

interface OpenConversation {
  readonly of: ConversationKey;
  readonly conversation: Promise<unknown>;
  users: number;
  usedAt: number;
  /** It is closed when nobody uses it any more. */
  isLost: boolean;
}

interface ConversationOptions {
  readonly clock: EngineClock;
  readonly openMax: number;
  readonly msMax: number;
  readonly report: (what: string, cause: unknown) => void;
}

/** The least recently used conversation is closed first. Conversations in use are never closed. */
export function createConversations({ clock, openMax, msMax, report }: ConversationOptions): Conversations {
  // A Map keeps insertion order, and every use moves its entry to the end: the first one is unused for longest.
  const open = new Map<string, OpenConversation>();

  const close = (key: string, context: OpenConversation): void => {
    if (open.get(key) === context) open.delete(key);
    context.conversation.then(dispose).catch((thrown: unknown) => report('a conversation could not be disposed of', thrown));
  };
  const makeRoom = (): void => {
    for (const [key, context] of open) {
      if (open.size <= openMax) return;
      if (context.users === 0) close(key, context);
    }
  };

  return {
    use: async (of, agent) => {
      const { owner, agent: name, contextId } = of;
      const key = JSON.stringify([owner.tenant, owner.principal, name, contextId]);
      const context = open.get(key) ?? newConversation(of, agent);
      context.users += 1;
      open.delete(key);
      open.set(key, context);
      makeRoom();
      const release = (): void => {
        context.users -= 1;
        context.usedAt = clock.ticks();
        if (context.isLost && context.users === 0) close(key, context);
      };
      try {
        return { conversation: await context.conversation, release };
      } catch (thrown) {
        release();
        if (open.get(key) === context) open.delete(key);
        throw thrown;
      }
    },
    sweep: () => {
      const oldest = clock.ticks() - msMax;
      for (const [key, context] of open) if (context.users === 0 && context.usedAt < oldest) close(key, context);
      makeRoom();
    },
    clear: (owner) => {
      // A key starts with its owner, and JSON quotes the names.
      const start = owner === undefined ? '' : `${JSON.stringify([owner.tenant, owner.principal]).slice(0, -1)},`;
      for (const [key, context] of open) if (context.users === 0 && key.startsWith(start)) close(key, context);
    },
    lose: (isLost) => {
      for (const [key, context] of open) {
        if (!isLost(context.of)) continue;
        context.isLost = true;
        open.delete(key);
        if (context.users === 0) close(key, context);
      }
    },
    all: () => [...open.values()].map(({ of }) => of),
    get size() {
      return open.size;
    },
  };
}

function newConversation({ owner, agent: name, contextId }: ConversationKey, agent: Agent): OpenConversation {
  const of = { owner, agent: name, contextId };
  return { of, conversation: openOne(agent, contextId), users: 0, usedAt: 0, isLost: false };
}

/** Async, so that an `open` that throws behaves like one that rejects. */
async function openOne(agent: Agent, contextId: ContextId): Promise<unknown> {
  return agent.open?.(contextId);
}

async function dispose(conversation: unknown): Promise<void> {
  if (typeof conversation !== 'object' || conversation === null) return;
  const disposable = conversation as Partial<AsyncDisposable & Disposable>;
  await (disposable[Symbol.asyncDispose] ?? disposable[Symbol.dispose])?.call(conversation);
}
