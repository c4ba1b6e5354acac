import type { Artifact, ContextId, Message, Task, TaskEvent, TaskStatus } from '#protocol';
import { addedParts, contextId, equal } from '#protocol';

/**
 * The events between two snapshots of a task: new messages of the agent, additions to artifacts, then the state, so that nothing follows
 * a last state. Folding them into the first snapshot gives the second.
 */
export function reconcile(before: Task, now: Task): readonly TaskEvent[] {
  const place = { taskId: now.id, contextId: now.contextId ?? before.contextId ?? NO_CONTEXT };
  return [
    ...missedMessages(before, now).map((message) => ({
      statusUpdate: { ...place, status: { state: 'TASK_STATE_WORKING', message } as const },
    })),
    ...(now.artifacts ?? []).flatMap((artifact) => artifactChange(before.artifacts ?? [], artifact, place)),
    ...(sameStatus(before.status, now.status) ? [] : [{ statusUpdate: { ...place, status: now.status } }]),
  ];
}

const NO_CONTEXT = contextId('');

interface CardLocation {
  readonly taskId: Task['id'];
  readonly contextId: ContextId;
}

/** Message ids alone are not enough: in dialects without ids, each reading makes new ones. */
function missedMessages(before: Task, now: Task): readonly Message[] {
  const known = [...(before.history ?? []), ...(before.status.message === undefined ? [] : [before.status.message])];
  const current = now.status.message === undefined ? [] : [now.status.message];
  return (now.history ?? []).filter(
    (message) => message.role === 'ROLE_AGENT' && ![...known, ...current].some((other) => sameMessage(message, other)),
  );
}

function sameMessage(one: Message, other: Message): boolean {
  return (one.messageId !== '' && one.messageId === other.messageId) || (one.role === other.role && equal(one.parts, other.parts));
}

/** A status that differs only in its timestamp is the same status. */
export function sameStatus(one: TaskStatus, other: TaskStatus): boolean {
  if (one.state !== other.state) return false;
  if (one.message === undefined || other.message === undefined) return one.message === other.message;
  return sameMessage(one.message, other.message);
}

function artifactChange(before: readonly Artifact[], now: Artifact, place: CardLocation): readonly TaskEvent[] {
  const known = before.find(({ artifactId }) => artifactId === now.artifactId);
  if (known === undefined) return [{ artifactUpdate: { ...place, artifact: now } }];
  const added = addedParts(known.parts, now.parts);
  if (added === undefined) return [{ artifactUpdate: { ...place, artifact: now } }];
  return added.length === 0 ? [] : [{ artifactUpdate: { ...place, artifact: { ...now, parts: added }, append: true } }];
}
