import type { Artifact, Json, Part, Task, TaskEvent, TaskStatusUpdate } from '#protocol';
import { artifactId, contextId, isObject } from '#protocol';
import { writeArtifactUri } from '../../artifacts/uris.ts';
import { resolveEmbeds } from './embeds/embeds.ts';

/** The artifact that holds the answer of an agent of SAM. */
const ANSWER = artifactId('answer');

/**
 * Reads an event of SAM's own agents, whose answer is the text of status messages: text of a working
 * agent becomes a chunk of an artifact, and the final Task has the whole text and the produced files as
 * artifacts. `before` is the task as it was.
 */
export function readSamEvent(event: TaskEvent, before: Task | undefined): TaskEvent {
  if (event.statusUpdate !== undefined) return textOf(event.statusUpdate, before) ?? event;
  if (event.task?.status.state === 'TASK_STATE_COMPLETED') return { task: finished(event.task, before) };
  return event;
}

function textOf({ taskId, contextId: context, status }: TaskStatusUpdate, before: Task | undefined): TaskEvent | undefined {
  const parts = status.message?.parts ?? [];
  if (status.state !== 'TASK_STATE_WORKING' || parts.length === 0 || parts.some(({ text }) => text === undefined)) return undefined;
  const artifact: Artifact = { artifactId: ANSWER, parts: [{ text: joined(parts) }] };
  const isNext = before?.artifacts?.some((each) => each.artifactId === ANSWER) === true;
  return { artifactUpdate: { taskId, contextId: context, artifact, ...(isNext ? { append: true } : {}) } };
}

function finished(task: Task, before: Task | undefined): Task {
  const { message, ...status } = task.status;
  const parts = message?.parts ?? [];
  const rest = parts.filter(({ text }) => text === undefined);
  const streamed = joined(before?.artifacts?.find((each) => each.artifactId === ANSWER)?.parts ?? []);
  const final = joined(parts);
  // What was streamed has what the agent said before it used a tool, too.
  const text = streamed.includes(final) ? streamed : final;
  const answer: Part[] = [...(text === '' ? [] : [{ text }]), ...rest];
  const artifacts: Artifact[] = [
    ...(answer.length === 0 ? [] : [{ artifactId: ANSWER, parts: answer }]),
    ...(task.artifacts ?? []).filter((each) => each.artifactId !== ANSWER),
    ...producedIn(task),
  ];
  return { ...task, status, ...(artifacts.length === 0 ? {} : { artifacts }) };
}

function joined(parts: readonly Part[]): string {
  return resolveEmbeds(parts.map(({ text }) => text ?? '').join(''));
}

/** The files that the task's metadata names, by reference to the shared artifact store. */
function producedIn({ metadata, contextId: session = contextId('') }: Task): readonly Artifact[] {
  const produced: Json | undefined = metadata?.['produced_artifacts'];
  return (Array.isArray(produced) ? produced : []).flatMap((each: Json) => {
    if (!isObject(each)) return [];
    const { filename, version } = each;
    if (typeof filename !== 'string' || typeof version !== 'number' || session === '') return [];
    const url = writeArtifactUri({ session, file: filename, version });
    return [{ artifactId: artifactId(`${filename}:${version}`), name: filename, parts: [{ url, filename }] }];
  });
}
