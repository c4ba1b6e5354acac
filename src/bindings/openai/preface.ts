import type { Part } from '#protocol';

/** One message of an earlier part of a chat. */
export interface PrefaceLine {
  readonly role: string;
  readonly parts: readonly Part[];
}

/** What the agent has to know of a conversation that it has not seen: the system's words, and a transcript. */
export function preface(before: readonly PrefaceLine[]): readonly Part[] {
  const system = before.filter(({ role }) => role === 'system').flatMap(({ parts }) => parts);
  const talk = before.filter(({ role }) => role !== 'system');
  if (talk.length === 0) return system;
  const lines = talk.map(({ role, parts }) => `${role}: ${parts.map(({ text }) => text ?? '[file]').join(' ')}`);
  return [...system, { text: `The conversation so far:\n${lines.join('\n')}\n\nNow:` }];
}
