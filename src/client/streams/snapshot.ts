import type { Artifact, ContextId, Message, Part, Task, TaskEvent, TaskStatus } from '#protocol';
import { contextId, equal, isTextPart } from '#protocol';

/**
 * What must have happened between two sights of a task, as events: what the agent said meanwhile, what was added to its artifacts,
 * and its state, in this order, so that nothing comes after a last state. Folded into the first sight they give the second.
 */
export function reconcile(before: Task, now: Task): readonly TaskEvent[] {
  const place = { taskId: now.id, contextId: now.contextId ?? before.contextId ?? NOWHERE };
  return [
    ...missedMessages(before, now).map((message) => ({
      statusUpdate: { ...place, status: { state: 'TASK_STATE_WORKING', message } as const },
    })),
    ...(now.artifacts ?? []).flatMap((artifact) => artifactChange(before.artifacts ?? [], artifact, place)),
    ...(sameStatus(before.status, now.status) ? [] : [{ statusUpdate: { ...place, status: now.status } }]),
  ];
}

const NOWHERE = contextId('');

interface Place {
  readonly taskId: Task['id'];
  readonly contextId: ContextId;
}

/** Ids alone do not tell: dialects without them get a new one at each reading. */
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

/** A status that was only dated anew says nothing. */
export function sameStatus(one: TaskStatus, other: TaskStatus): boolean {
  if (one.state !== other.state) return false;
  if (one.message === undefined || other.message === undefined) return one.message === other.message;
  return sameMessage(one.message, other.message);
}

function artifactChange(before: readonly Artifact[], now: Artifact, place: Place): readonly TaskEvent[] {
  const known = before.find(({ artifactId }) => artifactId === now.artifactId);
  if (known === undefined) return [{ artifactUpdate: { ...place, artifact: now } }];
  const added = addedParts(known.parts, now.parts);
  if (added === undefined) return [{ artifactUpdate: { ...place, artifact: now } }];
  return added.length === 0 ? [] : [{ artifactUpdate: { ...place, artifact: { ...now, parts: added }, append: true } }];
}

/** What came after the parts that are known; undefined if the artifact was written anew. Texts may have been joined meanwhile. */
export function addedParts(before: readonly Part[], now: readonly Part[]): readonly Part[] | undefined {
  if (before.length <= now.length && before.every((part, at) => equal(part, now[at]))) return now.slice(before.length);
  const [was, is] = [joined(before), joined(now)];
  const last = was.at(-1);
  const grown = is[was.length - 1];
  if (last === undefined || grown === undefined || !was.slice(0, -1).every((part, at) => equal(part, is[at]))) return undefined;
  if (equal(last, grown)) return is.slice(was.length);
  if (!isPlainText(last) || !isPlainText(grown) || !grown.text.startsWith(last.text)) return undefined;
  return [{ text: grown.text.slice(last.text.length) }, ...is.slice(was.length)];
}

/** Plain texts that follow each other, as one. */
function joined(parts: readonly Part[]): readonly Part[] {
  const out: Part[] = [];
  let texts: string[] = [];
  const close = (): void => {
    if (texts.length > 0) out.push({ text: texts.join('') });
    texts = [];
  };
  for (const part of parts) {
    if (isPlainText(part)) texts.push(part.text);
    else {
      close();
      out.push(part);
    }
  }
  close();
  return out;
}

function isPlainText(part: Part): part is Part & { readonly text: string } {
  return isTextPart(part) && part.metadata === undefined && part.filename === undefined && part.mediaType === undefined;
}
