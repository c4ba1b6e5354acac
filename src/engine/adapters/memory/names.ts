import type { ConversationName, ConversationNames, ConversationOwner } from '../../ports.ts';
import { isIn } from '../../search/is-listed.ts';

/** Names of conversations in memory. */
export function memoryNames(): ConversationNames {
  const names = new Map<string, ConversationName>();
  return {
    of: (conversations) => conversations.map((each) => names.get(keyOf(each))).filter((each) => each !== undefined),
    within: (scope) => [...names.values()].filter(({ owner }) => isIn(scope, owner)),
    put: ({ owner, contextId, name }) => {
      const key = keyOf({ owner, contextId });
      if (name === '') names.delete(key);
      else names.set(key, { owner, contextId, name });
    },
  };
}

function keyOf({ owner, contextId }: ConversationOwner): string {
  return JSON.stringify([owner.tenant, owner.principal, contextId]);
}
