import { signal } from '@preact/signals';
import type { Question } from '#client';
import { questionOf } from '#client';
import type { Artifact, JsonObject, Message, Part, Task, TaskEvent, TaskState } from '#protocol';
import { getTextFromMessage, isDataPart, isTerminal, isTextPart } from '#protocol';
import type { Voice } from '../delegated.ts';
import { voiceIn } from '../delegated.ts';

/** A step of the agent: a tool call, a plan, a thought, a status text. */
export interface TurnStep {
  readonly kind: string;
  readonly text: string;
  readonly data?: JsonObject;
}

/**
 * The display state of one artifact. Text is collected as text, so that the cost of a chunk depends on
 * its length only.
 */
export interface Shown {
  readonly id: string;
  name: string;
  texts: string;
  parts: Part[];
}

/** Work that the agent has given to another one, with what that one said. */
export interface ChatDelegation {
  readonly id: string;
  readonly agent: string;
  readonly description: string;
  readonly steps: TurnStep[];
  /** Its result, if the agent's task has it. */
  parts: readonly Part[];
  taskId: string | undefined;
  error: string;
  isOver: boolean;
}

/** A question of the agent. It stays in the transcript when it is over. */
export interface AskedQuestion {
  question: Question;
  /** What the user answered. Empty: somebody answered elsewhere, or the task ended. */
  answer: string;
  isOver: boolean;
}

/**
 * An agent's response while it streams. It is changed in place, and `version` grows with each change.
 */
export interface ChatTurn {
  readonly version: ReturnType<typeof signal<number>>;
  readonly began: number;
  /** The name of the agent. */
  readonly own: string;
  readonly steps: TurnStep[];
  readonly delegations: ChatDelegation[];
  readonly shown: Map<string, Shown>;
  direct: Message | undefined;
  taskId: string | undefined;
  contextId: string | undefined;
  state: TaskState | undefined;
  /** The message of the final status. */
  closing: Message | undefined;
  /** The open question. */
  question: Question | undefined;
  readonly asked: AskedQuestion[];
  problem: string;
  /** The stream was closed because the user answered. */
  isLeft: boolean;
  endedMs: number | undefined;
  events: number;
  /** Time of the last status, as the node wrote it. */
  changedAt: string;
}

/** A turn without any events. */
export function newTurn(own = ''): ChatTurn {
  return {
    version: signal(0),
    began: performance.now(),
    own,
    steps: [],
    delegations: [],
    shown: new Map(),
    direct: undefined,
    taskId: undefined,
    contextId: undefined,
    state: undefined,
    closing: undefined,
    question: undefined,
    asked: [],
    problem: '',
    isLeft: false,
    endedMs: undefined,
    events: 0,
    changedAt: '',
  };
}

/** Applies one event. Artifacts of earlier turns stay where they were shown. */
export function take(turn: ChatTurn, event: TaskEvent, before: ReadonlySet<string>): void {
  turn.events += 1;
  if (event.message !== undefined) {
    turn.direct = event.message;
    turn.contextId = event.message.contextId ?? turn.contextId;
  } else if (event.task !== undefined) {
    takeTask(turn, event.task, before);
  } else if (event.statusUpdate !== undefined) {
    const { status, metadata, taskId, contextId } = event.statusUpdate;
    turn.taskId = taskId;
    turn.contextId = contextId === '' ? turn.contextId : contextId;
    takeStatus(turn, { id: taskId, status }, metadata);
  } else {
    const { artifact, append, taskId } = event.artifactUpdate;
    turn.taskId = taskId;
    if (isTakenByDelegation(turn, artifact)) return;
    takeArtifact(turn, artifact, append === true);
  }
}

function takeTask(turn: ChatTurn, task: Task, before: ReadonlySet<string>): void {
  turn.taskId = task.id;
  turn.contextId = task.contextId ?? turn.contextId;
  for (const artifact of task.artifacts ?? [])
    if (!before.has(artifact.artifactId) && !isTakenByDelegation(turn, artifact)) takeArtifact(turn, artifact, false);
  takeStatus(turn, task, undefined);
}

/** Applies a status. Messages during the work become steps; a final one is the answer. */
function takeStatus(turn: ChatTurn, task: Pick<Task, 'id' | 'status'>, metadata: Task['metadata']): void {
  const { state, message, timestamp } = task.status;
  turn.state = state;
  turn.changedAt = timestamp ?? turn.changedAt;
  ask(turn, questionOf(task));
  if (message === undefined) return;
  if (isTerminal(state)) turn.closing = message;
  if (state !== 'TASK_STATE_WORKING' && state !== 'TASK_STATE_SUBMITTED') return;
  const data = message.parts.find(isDataPart)?.data;
  const event = metadata?.['event'];
  const steps = stepsOf(turn, voiceIn({ status: task.status, ...(metadata === undefined ? {} : { metadata }) }, turn.own));
  steps?.push({
    kind: typeof event === 'string' ? event : 'status',
    text: getTextFromMessage(message),
    ...(typeof data === 'object' && data !== null && !Array.isArray(data) ? { data: data as JsonObject } : {}),
  });
}

/** Where the words of a speaker belong. Undefined: the status only tells that a delegation began or ended. */
function stepsOf(turn: ChatTurn, voice: Voice | undefined): TurnStep[] | undefined {
  if (voice === undefined) return turn.steps;
  const { delegations } = turn;
  if (voice.kind === 'says') {
    const { agent } = voice;
    const known = delegations.findLast((one) => one.agent === agent && !one.isOver) ?? delegations.findLast((one) => one.agent === agent);
    return (known ?? begin(turn, { id: agent, agent, description: '' })).steps;
  }
  const known = delegations.findLast(({ id }) => id === voice.id);
  if (voice.kind === 'begins') {
    if (known === undefined || known.isOver) begin(turn, voice);
    return undefined;
  }
  if (known === undefined) return turn.steps; // the end of something that no other agent did
  known.isOver = true;
  known.error = voice.error ?? '';
  known.taskId = voice.taskId ?? known.taskId;
  return undefined;
}

function begin(turn: ChatTurn, { id, agent, description, taskId }: Omit<Extract<Voice, { kind: 'begins' }>, 'kind'>): ChatDelegation {
  const made: ChatDelegation = { id, agent, description, steps: [], parts: [], taskId, error: '', isOver: false };
  turn.delegations.push(made);
  return made;
}

/** The result of a workflow's node belongs to the agent that made it: `node:PATH`. */
function isTakenByDelegation(turn: ChatTurn, { artifactId, parts, metadata }: Artifact): boolean {
  if (metadata?.['workflowNode'] === undefined || !artifactId.startsWith('node:')) return false;
  const known = turn.delegations.findLast(({ id }) => `node:${id}` === artifactId);
  if (known !== undefined) known.parts = parts;
  return known !== undefined;
}

/** Notes an open question, or that there is none any more. */
function ask(turn: ChatTurn, question: Question | undefined): void {
  const last = turn.asked.at(-1);
  turn.question = question;
  if (last !== undefined && !last.isOver) {
    if (question === undefined) last.isOver = true;
    else last.question = question;
  } else if (question !== undefined) turn.asked.push({ question, answer: '', isOver: false });
}

/** Ends the open question with the user's answer. */
export function settle(turn: ChatTurn, answer: string): void {
  const last = turn.asked.at(-1);
  if (last !== undefined && !last.isOver) {
    last.answer = answer;
    last.isOver = true;
  }
  turn.question = undefined;
  bump(turn);
}

/** Marks a turn as changed, so that it is drawn again. */
export function bump(turn: ChatTurn): void {
  turn.version.value = (turn.version.value ?? 0) + 1;
}

/** What the agent said in a turn, as text to copy. */
export function textOf(turn: ChatTurn): string {
  const made = [...turn.shown.values()].flatMap(({ texts, parts }) => [texts, ...parts.map(({ text = '' }) => text)]);
  const said = [turn.direct, turn.closing].map((message) => (message === undefined ? '' : getTextFromMessage(message)));
  return [...made, ...said].filter((text) => text !== '').join('\n\n');
}

/** Applies an artifact or a chunk of one. Plain text is joined, other parts are kept apart. */
function takeArtifact(turn: ChatTurn, artifact: Artifact, append: boolean): void {
  const known = append ? turn.shown.get(artifact.artifactId) : undefined;
  const shown: Shown = known ?? { id: artifact.artifactId, name: '', texts: '', parts: [] };
  if (artifact.name !== undefined) shown.name = artifact.name;
  for (const part of artifact.parts) {
    if (isTextPart(part) && part.mediaType === undefined && shown.parts.length === 0) shown.texts += part.text;
    else shown.parts.push(part);
  }
  if (known === undefined) turn.shown.set(artifact.artifactId, shown);
}
