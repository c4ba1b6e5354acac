import type { Artifact, Json, JsonObject, Part, Task } from '#protocol';
import { isFilePart } from '#protocol';

/** A larger text or value is not put into the state, which the client sends back with every run. */
const STATE_CHARS = 16_384;

/** The state that front ends get: their own, the task, and its artifacts. */
export function stateOf(own: JsonObject, task: Task, contextId: string): JsonObject {
  const artifacts = Object.fromEntries((task.artifacts ?? []).map((artifact) => [artifact.artifactId, artifactState(artifact)]));
  return { ...own, task: { id: task.id, contextId, state: task.status.state }, artifacts };
}

/** An artifact without the content of its files. Those are in the activity `a2a.artifact`. */
export function artifactState({ name, description, parts, metadata }: Artifact): JsonObject {
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    parts: parts.map(partState),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

function partState(part: Part): JsonObject {
  const { text, raw, url, data, filename, mediaType } = part;
  const about: JsonObject = { ...(filename === undefined ? {} : { filename }), ...(mediaType === undefined ? {} : { mediaType }) };
  if (url !== undefined) return { ...about, url };
  if (raw !== undefined) return { ...about, bytes: Math.floor((raw.length * 3) / 4) };
  const content: Json = text ?? data ?? null;
  const chars = text === undefined ? JSON.stringify(content).length : text.length;
  if (chars > STATE_CHARS) return { ...about, chars };
  return text === undefined ? { ...about, data: content } : { ...about, text };
}

/** Files, links and data of an artifact, as front ends show them beside the text. Undefined: it has only text. */
export function artifactActivity(taskId: string, { artifactId, name, description, parts }: Artifact): JsonObject | undefined {
  const shown = parts.filter((part) => isFilePart(part) || part.data !== undefined);
  if (shown.length === 0) return undefined;
  return {
    ...{ taskId, artifactId },
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    parts: shown.map((part): JsonObject => ({ ...part })),
  };
}

/** A patch that puts an artifact into the state. */
export function artifactPatch(artifact: Artifact): JsonObject {
  const name = artifact.artifactId.replaceAll('~', '~0').replaceAll('/', '~1');
  return { op: 'add', path: `/artifacts/${name}`, value: artifactState(artifact) };
}
