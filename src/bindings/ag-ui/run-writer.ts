import type {
  A2AError,
  Artifact,
  JsonObject,
  Message,
  Part,
  Task,
  TaskArtifactUpdate,
  TaskEvent,
  TaskId,
  TaskState,
  TaskStatus,
} from '#protocol';
import {
  appendParts,
  artifactId as asArtifactId,
  callerToolsIn,
  equal,
  getTextFromMessage,
  isInterrupted,
  isTerminal,
  reportIn,
} from '#protocol';
import type { AgUiEvent } from './event.ts';
import { agUiEvent } from './event.ts';
import { interruptOf, questionText } from './interrupts.ts';
import type { RunInput } from './read.ts';
import { Spoken } from './spoken.ts';
import { artifactActivity, artifactPatch, stateOf } from './state.ts';
import { activityEvent, surfaceEvents, withoutSurfaces } from './surfaces.ts';
import { textIdOf } from './thread.ts';

/** What one run begins with. */
export interface RunBeginning {
  readonly input: RunInput;
  /** The task that the run continues, as the client knows it. */
  readonly known?: Task;
  /** The run answers a question of that task: what the agent says next comes after the answer. */
  readonly isAnswer?: boolean;
  /** The messages of the thread, for a client that opened it again. */
  readonly messages?: readonly JsonObject[];
  /** The run only shows a finished task: its failure is no failure of this run. */
  readonly isReview?: boolean;
}

/** Turns the events of one send, or of a task that is followed, into the events of one run. */
export class RunWriter {
  readonly #input: RunInput;
  readonly #spoken = new Spoken();
  readonly #artifacts = new Map<string, Gathered>();
  readonly #changed = new Set<string>();
  /** Messages of the agent that the client has already. */
  readonly #told = new Set<string>();
  readonly #messages: readonly JsonObject[] | undefined;
  readonly #isReview: boolean;
  #hasBegun = false;
  #hasState = false;
  #hasEnded = false;
  #status: TaskStatus | undefined;
  taskId: TaskId | undefined;

  constructor({ input, known, messages, isReview = false, isAnswer = false }: RunBeginning) {
    this.#isReview = isReview;
    this.#input = input;
    this.#messages = messages;
    if (known !== undefined) this.#know(known, isAnswer ? (known.status.message?.messageId ?? input.runId) : undefined);
  }

  /** The state of the task. `TASK_STATE_COMPLETED` after a direct message. */
  get state(): TaskState | undefined {
    return this.#status?.state;
  }

  begin(): readonly AgUiEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    const { threadId, runId, isCurrent } = this.#input;
    const started = agUiEvent('RUN_STARTED', { threadId, runId, ...(isCurrent ? { protocolVersion: '1.0' } : {}) });
    return this.#messages === undefined ? [started] : [started, agUiEvent('MESSAGES_SNAPSHOT', { messages: this.#messages })];
  }

  add(event: TaskEvent): readonly AgUiEvent[] {
    if (this.#hasEnded) return [];
    if (event.message !== undefined) return this.#direct(event.message);
    if (event.task !== undefined) return this.#snapshot(event.task);
    if (event.artifactUpdate !== undefined) return this.#artifact(event.artifactUpdate);
    this.taskId ??= event.statusUpdate.taskId;
    const { status } = event.statusUpdate;
    return [...this.#stateChange(status.state), ...this.#statusTold(event.statusUpdate)];
  }

  /** Everything that is open is closed, and the terminal event of the task's state is written. */
  end(): readonly AgUiEvent[] {
    if (this.#hasEnded) return [];
    this.#hasEnded = true;
    const state = this.state;
    const isOver = state === undefined || isTerminal(state);
    const closed = [...this.begin(), ...this.#spoken.close(isOver), ...this.#patch()];
    return [...closed, ...this.#terminal(this.#status)];
  }

  /** The terminal event for anything that went wrong. */
  fail({ message, code }: { readonly message: string; readonly code: string }): readonly AgUiEvent[] {
    if (this.#hasEnded) return [];
    this.#hasEnded = true;
    return [...this.begin(), ...this.#spoken.close(true), agUiEvent('RUN_ERROR', { message, code })];
  }

  #know({ id, artifacts = [], status }: Task, asked: string | undefined): void {
    this.taskId = id;
    if (status.message !== undefined) this.#told.add(status.message.messageId);
    for (const artifact of artifacts) {
      this.#artifacts.set(artifact.artifactId, gathered(artifact));
      this.#spoken.know(textIdOf(id, artifact.artifactId), textOf(artifact), asked);
    }
  }

  #direct(message: Message): readonly AgUiEvent[] {
    this.#status = { state: 'TASK_STATE_COMPLETED' };
    const artifact: Artifact = { artifactId: asArtifactId(message.messageId), parts: message.parts };
    const activity = artifactActivity('', artifact);
    const shown = activity === undefined ? [] : [activityEvent(`${message.messageId}:files`, 'a2a.artifact', activity)];
    return [...this.#spoken.say(message.messageId, textOf(artifact), true), ...shown];
  }

  #snapshot(task: Task): readonly AgUiEvent[] {
    this.taskId = task.id;
    const { threadId } = this.#input;
    const contextId = task.contextId ?? threadId;
    const out: AgUiEvent[] = [];
    if (!this.#hasState) {
      this.#hasState = true;
      out.push(agUiEvent('CUSTOM', { name: 'a2a.task', value: { taskId: task.id, contextId } }));
      out.push(agUiEvent('STATE_SNAPSHOT', { snapshot: stateOf(this.#input.state, task, contextId) }));
      this.#status = { state: task.status.state };
      // The messages of an opened thread have only its texts.
      if (this.#messages !== undefined) for (const artifact of this.#artifacts.values()) out.push(...filesOf(task.id, artifact));
    }
    for (const artifact of task.artifacts ?? []) out.push(...this.#whole(task.id, artifact, false));
    return [...out, ...this.#stateChange(task.status.state), ...this.#statusTold(task)];
  }

  #artifact({ taskId, artifact, append, lastChunk }: TaskArtifactUpdate): readonly AgUiEvent[] {
    const known = this.#artifacts.get(artifact.artifactId);
    const isLast = lastChunk === true;
    const made =
      append === true && known !== undefined ? this.#chunk(taskId, known, artifact, isLast) : this.#whole(taskId, artifact, isLast);
    return isLast ? [...made, ...this.#patch()] : made;
  }

  /** Collects chunks in place: an answer may have a hundred thousand of them. */
  #chunk(task: TaskId, known: Gathered, { parts }: Artifact, isLast: boolean): readonly AgUiEvent[] {
    appendParts(known.parts, parts);
    this.#changed.add(known.artifactId);
    const id = textIdOf(task, known.artifactId);
    const said = this.#spoken.append(id, textOf({ parts }), isLast);
    return parts.every(({ text }) => text !== undefined) ? said : [...said, ...filesOf(task, known)];
  }

  #whole(task: TaskId, artifact: Artifact, isLast: boolean): readonly AgUiEvent[] {
    const before = this.#artifacts.get(artifact.artifactId);
    if (before !== undefined && equal(before.parts, artifact.parts)) return [];
    this.#artifacts.set(artifact.artifactId, gathered(artifact));
    this.#changed.add(artifact.artifactId);
    return [...this.#spoken.say(textIdOf(task, artifact.artifactId), textOf(artifact), isLast), ...filesOf(task, artifact)];
  }

  #stateChange(state: TaskState): readonly AgUiEvent[] {
    const isNews = this.#hasState && this.#status?.state !== state;
    return isNews ? [agUiEvent('STATE_DELTA', { delta: [{ op: 'replace', path: '/task/state', value: state }] })] : [];
  }

  /** What the status message says: progress, a question, or the last words. */
  #statusTold(from: { readonly status: TaskStatus; readonly metadata?: JsonObject }): readonly AgUiEvent[] {
    const { status } = from;
    this.#status = status;
    const { message, state } = status;
    if (message === undefined || this.#told.has(message.messageId)) return [];
    this.#told.add(message.messageId);
    if (isInterrupted(state)) return this.#asked(message);
    if (!isTerminal(state)) return this.#progress(from);
    const words = getTextFromMessage(message);
    if (state !== 'TASK_STATE_COMPLETED' || words === '' || words === this.#spoken.last) return [];
    return this.#spoken.say(message.messageId, words, true);
  }

  /** A question is text too, so that it stays in the thread. Tools that the front end can run are calls without a result. */
  #asked(message: Message): readonly AgUiEvent[] {
    const calls = this.#frontEndCalls(message).flatMap(({ id, name, arguments: input }) => this.#spoken.call(id, { tool: name, input }));
    if (calls.length > 0) return calls;
    const words = questionText(message);
    return words === '' || words === this.#spoken.last ? [] : this.#spoken.say(message.messageId, words, true);
  }

  #frontEndCalls(message: Message | undefined): ReturnType<typeof callerToolsIn> {
    const calls = message === undefined ? [] : callerToolsIn(message);
    return calls.every(({ name }) => this.#input.tools.has(name)) ? calls : [];
  }

  #progress(from: { readonly status: TaskStatus; readonly metadata?: JsonObject }): readonly AgUiEvent[] {
    const report = reportIn(from);
    const task = this.taskId ?? '';
    switch (report?.kind) {
      case undefined:
        return [];
      case 'note':
        return [activityEvent(`${this.#input.runId}:progress`, 'a2a.progress', { taskId: task, text: report.text })];
      case 'thought':
        return this.#spoken.think(this.#input.runId, report.text);
      case 'plan':
        return [activityEvent(`${task}:plan`, 'a2a.plan', { taskId: task, entries: report.entries.map((entry) => ({ ...entry })) })];
      case 'tool_use':
        return this.#spoken.call(`${task}:${report.id}`, report);
      case 'tool_result':
        return this.#spoken.returned(`${task}:${report.id}`, report);
      case 'delegated':
        return this.#spoken.delegated(`${task}:${report.id}`, report);
      case 'returned':
        return this.#spoken.delegationEnded(`${task}:${report.id}`, report.error);
    }
  }

  #patch(): readonly AgUiEvent[] {
    if (!this.#hasState || this.#changed.size === 0) return [];
    const delta = [...this.#changed].flatMap((id) => {
      const artifact = this.#artifacts.get(id);
      return artifact === undefined ? [] : [artifactPatch(artifact)];
    });
    this.#changed.clear();
    return [agUiEvent('STATE_DELTA', { delta })];
  }

  #terminal(status: TaskStatus | undefined): readonly AgUiEvent[] {
    const { threadId, runId, isCurrent, preferences } = this.#input;
    const finished = (outcome: JsonObject, result?: JsonObject): readonly AgUiEvent[] => [
      agUiEvent('RUN_FINISHED', { threadId, runId, outcome, result }),
    ];
    const task = this.taskId;
    const result: JsonObject = {
      ...(task === undefined ? {} : { taskId: task }),
      ...(status === undefined ? {} : { state: status.state }),
    };
    if (status === undefined || this.#isReview || status.state === 'TASK_STATE_COMPLETED') return finished({ type: 'success' }, result);
    if (isInterrupted(status.state)) {
      const pending = this.#frontEndCalls(status.message).map(({ id }) => id);
      if (pending.length > 0) return finished({ type: 'success', ...(isCurrent ? { pendingToolCallIds: pending } : {}) }, result);
      if (preferences.questions === 'text' || task === undefined) return finished({ type: 'success' }, result);
      return finished({ type: 'interrupt', interrupts: [interruptOf(task, status)] });
    }
    if (status.state === 'TASK_STATE_CANCELED' && isCurrent) return finished({ type: 'cancelled' }, result);
    return [agUiEvent('RUN_ERROR', failureOf(status))];
  }
}

/** Codes of RUN_ERROR. Clients before 1.0 have no outcome `cancelled`, so they get an error. */
const CODES: Readonly<Partial<Record<TaskState, string>>> = {
  TASK_STATE_FAILED: 'task_failed',
  TASK_STATE_REJECTED: 'task_rejected',
  TASK_STATE_CANCELED: 'cancelled',
};

function failureOf({ state, message }: TaskStatus): { readonly message: string; readonly code: string } {
  const code = CODES[state] ?? 'stream_ended';
  const words = message === undefined ? '' : getTextFromMessage(message);
  if (CODES[state] === undefined) return { code, message: 'the stream ended before the task; run the thread again to see the rest' };
  return { code, message: words || `the task was ${state.slice('TASK_STATE_'.length).toLowerCase()}` };
}

/** The code of an error that the service throws. */
export function errorEvent(error: A2AError): AgUiEvent {
  return agUiEvent('RUN_ERROR', { message: error.message, code: error.kind.toLowerCase() });
}

function textOf({ parts }: Pick<Artifact, 'parts'>): string {
  return parts.map(({ text }) => text ?? '').join('');
}

type Gathered = Artifact & { readonly parts: Part[] };

function gathered(artifact: Artifact): Gathered {
  return { ...artifact, parts: [...artifact.parts] };
}

/** A2UI surfaces are drawn; other content is shown beside the text. */
function filesOf(task: TaskId, given: Artifact): readonly AgUiEvent[] {
  const surfaces = surfaceEvents(given.parts);
  const artifact = surfaces.length === 0 ? given : { ...given, parts: withoutSurfaces(given.parts) };
  const activity = artifactActivity(task, artifact);
  const shown = activity === undefined ? [] : [activityEvent(`${textIdOf(task, artifact.artifactId)}:files`, 'a2a.artifact', activity)];
  return [...surfaces, ...shown];
}
