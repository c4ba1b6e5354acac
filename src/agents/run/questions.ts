import type { TaskId, Turn } from '#protocol';
import type { Holder } from '../workspace/sessions.ts';

/** The questions that runs wait for an answer to, by conversation. */
export interface OpenQuestions {
  /** The same turn. While its `ask` waits, its conversation has an open question. */
  watch(holder: Holder, turn: Turn): Turn;
  /** The task of the conversation that waits for an answer. */
  in(holder: Holder): TaskId | undefined;
  /**
   * Calls `listener` for every question of the conversation from now on, until the returned function is
   * called.
   */
  onOpen(holder: Holder, listener: () => void): () => void;
}

/** Starts without questions. */
export function createOpenQuestions(): OpenQuestions {
  const open = new Map<string, Set<TaskId>>();
  const listeners = new Map<string, Set<() => void>>();
  return {
    watch: (holder, turn) => ({
      ...turn,
      ask: async (question, options) => {
        const key = keyOf(holder);
        const leave = join(open, key, turn.task.id);
        for (const listener of listeners.get(key) ?? []) listener();
        try {
          return await turn.ask(question, options);
        } finally {
          leave();
        }
      },
    }),
    in: (holder) => open.get(keyOf(holder))?.values().next().value,
    onOpen: (holder, listener) => join(listeners, keyOf(holder), listener),
  };
}

function keyOf({ contextId, principal }: Holder): string {
  return JSON.stringify([principal, contextId]);
}

/** Adds to the set of that key. The returned function removes it again. */
function join<T>(sets: Map<string, Set<T>>, key: string, member: T): () => void {
  const set = sets.get(key) ?? new Set<T>();
  sets.set(key, set.add(member));
  return () => {
    set.delete(member);
    if (set.size === 0 && sets.get(key) === set) sets.delete(key);
  };
}
