import type { SessionUpdate, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk';
import type { Artifact, Message, Part, ReportedDiff, Task, TaskArtifactUpdate, TaskEvent, TaskId, TaskStatus, WorkReport } from '#protocol';
import { getTextFromMessage, isInterrupted, isMemberOf, isTerminal, reportIn } from '#protocol';
import { blockOf } from './content.ts';

const KINDS: ReadonlySet<ToolKind> = new Set<ToolKind>([
  ...(['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other'] as const),
]);
const PRIORITIES: ReadonlySet<'high' | 'medium' | 'low'> = new Set<'high' | 'medium' | 'low'>(['high', 'medium', 'low']);

/** Turns the events of a task into the updates of an editor's session. Knows what the editor has already. */
export class SessionUpdates {
  readonly #texts = new Map<string, string>();
  readonly #files = new Map<string, number>();
  readonly #told = new Set<string>();
  #last = '';
  #hasSaid = false;
  taskId: TaskId | undefined;
  contextId: string | undefined;
  status: TaskStatus | undefined;

  /** Takes a task that the editor knows. Only what changes is shown. */
  know({ id, contextId, artifacts = [], status, history = [] }: Task): void {
    this.taskId = id;
    this.contextId = contextId;
    for (const artifact of artifacts) {
      this.#texts.set(artifact.artifactId, textOf(artifact.parts));
      this.#files.set(artifact.artifactId, artifact.parts.length);
    }
    for (const { messageId } of history) this.#told.add(messageId);
    if (status.message !== undefined) this.#told.add(status.message.messageId);
  }

  add(event: TaskEvent): readonly SessionUpdate[] {
    if (event.message !== undefined) {
      this.contextId = event.message.contextId ?? this.contextId;
      this.status = { state: 'TASK_STATE_COMPLETED' };
      return event.message.parts.map(chunkOf);
    }
    const { contextId } = event.task ?? event.statusUpdate ?? event.artifactUpdate;
    if (contextId !== undefined && contextId !== '') this.contextId = contextId;
    if (event.artifactUpdate !== undefined) return this.#artifact(event.artifactUpdate.artifact, event.artifactUpdate);
    this.taskId = event.task?.id ?? event.statusUpdate?.taskId ?? this.taskId;
    const made = (event.task?.artifacts ?? []).flatMap((artifact) => this.#artifact(artifact, {}));
    return [...made, ...this.#status(event.task ?? event.statusUpdate)];
  }

  /** The question that the task waits for an answer to. */
  get question(): Message | undefined {
    return this.status !== undefined && isInterrupted(this.status.state) ? this.status.message : undefined;
  }

  #artifact({ artifactId, parts }: Artifact, { append }: Pick<TaskArtifactUpdate, 'append'>): readonly SessionUpdate[] {
    const before = this.#texts.get(artifactId) ?? '';
    const seen = append === true ? 0 : (this.#files.get(artifactId) ?? 0);
    const now = append === true ? before + textOf(parts) : textOf(parts);
    this.#texts.set(artifactId, now);
    this.#files.set(artifactId, append === true ? (this.#files.get(artifactId) ?? 0) + parts.length : parts.length);
    const rest = now.startsWith(before) ? now.slice(before.length) : now;
    const isOther = this.#hasSaid && rest !== '' && before === '' && this.#last !== '' && this.#last !== artifactId;
    if (rest !== '') [this.#last, this.#hasSaid] = [artifactId, true];
    const files = parts.slice(seen).filter(({ text }) => text === undefined);
    return [...(rest === '' ? [] : [chunkOf({ text: isOther ? `\n\n${rest}` : rest })]), ...files.map(chunkOf)];
  }

  #status(from: Pick<Task, 'status' | 'metadata'>): readonly SessionUpdate[] {
    const { status } = from;
    this.status = status;
    const { message, state } = status;
    if (message === undefined || this.#told.has(message.messageId)) return [];
    this.#told.add(message.messageId);
    if (isInterrupted(state)) return []; // the caller asks it
    if (!isTerminal(state)) return updatesOf(reportIn(from), this.taskId ?? '');
    const words = getTextFromMessage(message);
    const isSaid = state !== 'TASK_STATE_COMPLETED' || words === '' || [...this.#texts.values()].includes(words);
    return isSaid ? [] : [chunkOf({ text: this.#hasSaid ? `\n\n${words}` : words })];
  }
}

/** A piece of the agent's answer. */
export function chunkOf(part: Part): SessionUpdate {
  return { sessionUpdate: 'agent_message_chunk', content: blockOf(part) };
}

/** A piece of what the user said, when a session is shown again. */
export function userChunkOf(part: Part): SessionUpdate {
  return { sessionUpdate: 'user_message_chunk', content: blockOf(part) };
}

/** The updates for a report of work. */
function updatesOf(report: WorkReport | undefined, task: string): readonly SessionUpdate[] {
  switch (report?.kind) {
    case undefined:
      return [];
    case 'note':
    case 'thought':
      return [{ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: `${report.text}\n` } }];
    case 'plan':
      return [
        {
          sessionUpdate: 'plan',
          entries: report.entries.map(({ content, status, priority }) => ({
            ...{ content, status },
            priority: isMemberOf(PRIORITIES, priority) ? priority : 'medium',
          })),
        },
      ];
    case 'tool_use':
      return [
        {
          ...{ sessionUpdate: 'tool_call', toolCallId: `${task}:${report.id}`, name: report.tool, title: report.title ?? report.tool },
          ...{ status: 'in_progress', kind: kindOf(report.toolKind), content: [...diffsOf(report.diffs)] },
          ...(report.input === undefined ? {} : { rawInput: report.input }),
          ...(report.paths === undefined ? {} : { locations: report.paths.map((path) => ({ path })) }),
        },
      ];
    case 'tool_result': {
      const text: ToolCallContent = { type: 'content', content: { type: 'text', text: report.output } };
      const content = [...(report.output === '' ? [] : [text]), ...diffsOf(report.diffs)];
      const status = report.isError ? 'failed' : 'completed';
      return [{ sessionUpdate: 'tool_call_update', toolCallId: `${task}:${report.id}`, status, content }];
    }
    case 'delegated':
      return [
        {
          ...{ sessionUpdate: 'tool_call', toolCallId: `${task}:${report.id}`, name: report.agent, status: 'in_progress', kind: 'other' },
          title: `Agent ${report.agent}${report.description === undefined ? '' : `: ${report.description}`}`,
        },
      ];
    case 'returned':
      return [
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: `${task}:${report.id}`,
          status: report.error === undefined ? 'completed' : 'failed',
        },
      ];
  }
}

export function kindOf(kind: string | undefined): ToolKind {
  return isMemberOf(KINDS, kind) ? kind : 'other';
}

function diffsOf(diffs: readonly ReportedDiff[] = []): readonly ToolCallContent[] {
  return diffs.map(({ path, oldText, newText }) => ({ type: 'diff', path, newText, ...(oldText === undefined ? {} : { oldText }) }));
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text }) => text ?? '').join('');
}
