import type { Artifact, Message, Part, Task, TaskEvent } from '#protocol';
import { base64ToBytes, isInterrupted } from '#protocol';
import { oneLine, plain } from './plain-text.ts';

/** The `text` format: `Label: value` lines, and blocks that end with a blank line (A2A CLI specification §5.1). */

/** One `Label: value` line. */
export function field(label: string, value: string): string {
  return `${label}: ${oneLine(value)}\n`;
}

const OF_TASKS =
  'Task|Context|State|Updated|Message|Artifact|Text|Data|File|History|Metadata|Resume|Next|Config|URL|Authentication|Deleted';
const OF_CARDS =
  'Agent|Version|Source|Provider|Interface|Capabilities|Extension|Input|Output|Scheme|Requires|Skill(?: \\S+)?|Name|Description|Tags|Example|Signature|Documentation';
const OF_ERRORS = 'Error|Code|Hint';

/** A line of an agent that starts with a label of ours is indented, so that its text can't pretend to be a field. */
const LABELLED = new RegExp(`^(?=(?:${OF_TASKS}|${OF_CARDS}|${OF_ERRORS}):)`, 'gm');

/** A label, followed by text over several lines. */
export function block(label: string, content: string): string {
  const body = plain(content).replaceAll(LABELLED, '  ');
  return `${label}:\n${body}${body.endsWith('\n') ? '' : '\n'}\n`;
}

export function stateText(state: string): string {
  return state.replace(/^TASK_STATE_/, '');
}

export function idsText({ id, contextId, status }: Task): string {
  return field('Task', id) + field('Context', contextId ?? '') + field('State', stateText(status.state));
}

export interface TaskTextOptions {
  /** The command that continues a waiting task. */
  readonly resume?: string | undefined;
  readonly verbose?: boolean;
  /** Show the history, as far as the agent sent it. */
  readonly history?: boolean;
}

/** A task for people: state, ids, artifacts, and the question if it asks one. */
export function taskText(task: Task, options: TaskTextOptions = {}): string {
  const { timestamp, message } = task.status;
  const when = options.verbose === true && timestamp !== undefined ? field('Updated', timestamp) : '';
  const said = message === undefined ? '' : partsText(message.parts, 'Message');
  const made = (task.artifacts ?? []).map(artifactText).join('');
  const history = options.history === true || options.verbose === true ? (task.history ?? []).map(historyText).join('') : '';
  const metadata = options.verbose === true && task.metadata !== undefined ? block('Metadata', JSON.stringify(task.metadata, null, 2)) : '';
  const resume = isInterrupted(task.status.state) && options.resume !== undefined ? field('Resume', options.resume) : '';
  return idsText(task) + when + said + made + history + metadata + resume;
}

export function artifactText(artifact: Artifact): string {
  return field('Artifact', artifact.name ?? artifact.artifactId) + partsText(artifact.parts, 'Text');
}

function historyText(message: Message): string {
  return field('History', message.role === 'ROLE_USER' ? 'user' : 'agent') + partsText(message.parts, 'Text');
}

export function messageText({ taskId, contextId, parts }: Message): string {
  const ids = (taskId === undefined ? '' : field('Task', taskId)) + (contextId === undefined ? '' : field('Context', contextId));
  return ids + partsText(parts, 'Message');
}

/** Shows every part: adjacent texts as one block, data as JSON, a file as its name, type and size. */
function partsText(parts: readonly Part[], label: string): string {
  let out = '';
  let words: string[] = [];
  const flush = (): void => {
    if (words.length > 0) out += block(label, words.join(''));
    words = [];
  };
  for (const part of parts) {
    if (part.text !== undefined) {
      words.push(part.text);
      continue;
    }
    flush();
    out += part.data !== undefined ? block('Data', JSON.stringify(part.data, null, 2)) : field('File', fileText(part));
  }
  flush();
  return out;
}

export function fileText(part: Part): string {
  const name = part.filename ?? part.url ?? 'unnamed';
  const type = part.mediaType ?? 'application/octet-stream';
  if (part.url !== undefined) return `${name} (${type}, at ${part.url})`;
  return `${name} (${type}, ${base64ToBytes(part.raw ?? '').length} bytes)`;
}

/** An event for people, in one or a few lines. */
export function eventText(event: TaskEvent): string {
  if (event.task !== undefined) return taskText(event.task);
  if (event.message !== undefined) return messageText(event.message);
  if (event.artifactUpdate !== undefined) return artifactText(event.artifactUpdate.artifact);
  const { state, message } = event.statusUpdate.status;
  return field('State', stateText(state)) + (message === undefined ? '' : partsText(message.parts, 'Message'));
}
