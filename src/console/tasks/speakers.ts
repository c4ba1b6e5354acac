import type { AdminEvent, Message } from '#protocol';
import { voiceIn } from '../delegated.ts';

/** Who said a message, by its id. The agent's own messages are not in it. */
export type Speakers = ReadonlyMap<string, string>;

/** The messages in a log that other agents said, or that tell about their work. */
export function speakersIn(events: readonly AdminEvent[], own = ''): Speakers {
  const speakers = new Map<string, string>();
  const agents = new Map<string, string>();
  for (const { event } of events) {
    const update = event.statusUpdate;
    const id = update?.status.message?.messageId;
    if (update === undefined || id === undefined) continue;
    const voice = voiceIn(update, own);
    if (voice?.kind === 'begins') agents.set(voice.id, voice.agent);
    const agent = voice?.kind === 'ends' ? agents.get(voice.id) : voice?.agent;
    if (agent !== undefined) speakers.set(id, agent);
  }
  return speakers;
}

/** Messages of one speaker. */
interface Group {
  /** Empty: the caller and the agent itself. */
  readonly by: string;
  readonly messages: Message[];
}

/** Messages of one other agent are together, where its first one was, until the caller speaks again. */
export function grouped(messages: readonly Message[], speakers: Speakers): readonly Group[] {
  const groups: Group[] = [];
  let since = 0;
  for (const message of messages) {
    const by = speakers.get(message.messageId) ?? '';
    if (message.role === 'ROLE_USER') since = groups.length;
    const known = by === '' ? groups.at(-1) : groups.slice(since).find((group) => group.by === by);
    if (known?.by === by) known.messages.push(message);
    else groups.push({ by, messages: [message] });
  }
  return groups;
}
