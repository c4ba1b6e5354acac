import { signal } from '@preact/signals';
import type { SendHandle } from '#client';
import type { Part, Task, TaskEvent } from '#protocol';
import { createDataPart, createFilePartFromBytes, createTextPart, isInterrupted, isTerminal } from '#protocol';
import type { ChatTarget } from '../agents/known.ts';
import { clientFor, titleOf } from '../agents/known.ts';
import { wordsFor } from '../api.ts';
import type { ChatTurn } from './turn.ts';
import { newTurn, take } from './turn.ts';

/**
 * One entry of the transcript: a message of the user, or everything that the agent did in response.
 */
export type ChatEntry = { readonly by: 'user'; readonly parts: readonly Part[] } | { readonly by: 'agent'; readonly turn: ChatTurn };

/** One open chat. */
export interface ChatSession {
  readonly id: string;
  readonly target: ChatTarget;
  readonly entries: ReturnType<typeof signal<readonly ChatEntry[]>>;
  readonly isBusy: ReturnType<typeof signal<boolean>>;
  readonly title: ReturnType<typeof signal<string>>;
  contextId: string | undefined;
  handle: SendHandle | undefined;
  leaving: AbortController;
}

/** The open chats, kept until the page is closed. Their tasks are in the node's log. */
export const chats = signal<readonly ChatSession[]>([]);
let made = 0;

/** Opens a chat with an agent. Nothing is sent yet. */
export function openChat(target: ChatTarget): ChatSession {
  made += 1;
  const chat: ChatSession = {
    id: `${titleOf(target).replaceAll(/[^\w.-]/g, '-')}-${made}`,
    target,
    entries: signal<readonly ChatEntry[]>([]),
    isBusy: signal<boolean>(false),
    title: signal<string>(titleOf(target)),
    contextId: undefined,
    handle: undefined,
    leaving: new AbortController(),
  };
  chats.value = [...chats.value, chat];
  return chat;
}

/** Opens a chat that continues a task, with its history and its current state. */
export function resumeIn(target: ChatTarget, task: Task): ChatSession {
  const chat = openChat(target);
  const turn = newTurn();
  take(turn, { task }, new Set());
  const said = (task.history ?? []).filter(({ role }) => role === 'ROLE_USER');
  chat.contextId = task.contextId;
  chat.entries.value = [...said.map(({ parts }): ChatEntry => ({ by: 'user', parts })), { by: 'agent', turn }];
  if (isTerminal(task.status.state) || isInterrupted(task.status.state)) turn.endedMs = 0;
  else void followAgain(chat, turn, task.id);
  return chat;
}

/** Subscribes to a task that still runs, for a chat that continues it. */
async function followAgain(chat: ChatSession, turn: ChatTurn, id: string): Promise<void> {
  chat.isBusy.value = true;
  try {
    const client = await clientFor(chat.target);
    turn.shown.clear(); // the stream begins with a snapshot of the task
    await follow(turn, client.subscribe(id, { signal: chat.leaving.signal }), new Set());
  } catch (thrown) {
    if (!turn.isLeft) turn.problem = wordsFor(thrown);
  }
  turn.endedMs = performance.now() - turn.began;
  if (!turn.isLeft) chat.isBusy.value = false;
  bump(turn);
}

/** Closes a chat. Its task continues on the node. */
export function closeChat(chat: ChatSession): void {
  chat.leaving.abort();
  chats.value = chats.value.filter(({ id }) => id !== chat.id);
}

/** The parts of a message: the text, and the files as bytes. */
export async function partsFrom(text: string, files: readonly File[]): Promise<readonly Part[]> {
  const attached = await Promise.all(
    files.map(async (file) =>
      createFilePartFromBytes(new Uint8Array(await file.arrayBuffer()), {
        name: file.name,
        mediaType: file.type || 'application/octet-stream',
      }),
    ),
  );
  return [...(text === '' ? [] : [createTextPart(text)]), ...attached];
}

/**
 * Sends a message and reads the response. It answers a waiting task, or starts a new task in the
 * context.
 */
export async function sayIn(chat: ChatSession, parts: readonly Part[], { skill }: { readonly skill?: string } = {}): Promise<void> {
  const waiting = lastTurn(chat);
  if (parts.length === 0 || !canSay(chat)) return;
  // An agent that waits for a credential may continue without an answer, so its stream is still open. An answer closes it.
  if (waiting !== undefined && chat.isBusy.value === true) {
    waiting.isLeft = true;
    chat.leaving.abort();
    chat.leaving = new AbortController();
  }
  const taskId = waiting?.state !== undefined && isInterrupted(waiting.state) ? waiting.taskId : undefined;
  const turn = newTurn();
  const entries = chat.entries.value ?? [];
  const before = taskId === undefined ? new Set<string>() : shownIn(entries, taskId);
  if (waiting !== undefined) settle(waiting);
  chat.entries.value = [...entries, { by: 'user', parts }, { by: 'agent', turn }];
  chat.isBusy.value = true;
  try {
    const client = await clientFor(chat.target);
    const thread = { ...(taskId === undefined ? {} : { taskId }), ...(chat.contextId === undefined ? {} : { contextId: chat.contextId }) };
    const handle = client.stream(parts, { ...thread, ...(skill === undefined ? {} : { skill }), signal: chat.leaving.signal });
    chat.handle = handle;
    await follow(turn, handle, before);
  } catch (thrown) {
    if (!turn.isLeft) turn.problem = wordsFor(thrown);
  }
  turn.endedMs = performance.now() - turn.began;
  if (turn.isLeft) return bump(turn);
  chat.contextId = turn.contextId ?? chat.contextId;
  chat.handle = undefined;
  chat.isBusy.value = false;
  bump(turn);
}

const SLICE_MS = 8;
const DRAW_MS = 50;

/**
 * Yields to the browser every few milliseconds, and draws a fast stream at most twenty times per
 * second.
 */
export async function follow(turn: ChatTurn, events: AsyncIterable<TaskEvent>, before: ReadonlySet<string>): Promise<void> {
  let since = performance.now();
  let isDue = false;
  let drawn = Number.NEGATIVE_INFINITY;
  for await (const event of events) {
    take(turn, event, before);
    if (!isDue) {
      isDue = true;
      const due = Math.max(0, drawn + DRAW_MS - performance.now());
      setTimeout(() => {
        isDue = false;
        drawn = performance.now();
        bump(turn);
      }, due);
    }
    if (performance.now() - since > SLICE_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      since = performance.now();
    }
  }
}

/** Marks a turn as changed, so that it is drawn again. */
export function bump(turn: ChatTurn): void {
  turn.version.value = (turn.version.value ?? 0) + 1;
}

function settle(turn: ChatTurn): void {
  turn.question = undefined;
  bump(turn);
}

/** The agent's latest turn. */
export function lastTurn(chat: ChatSession): ChatTurn | undefined {
  const last = (chat.entries.value ?? []).findLast((entry) => entry.by === 'agent');
  return last?.by === 'agent' ? last.turn : undefined;
}

function shownIn(entries: readonly ChatEntry[], taskId: string): Set<string> {
  const turns = entries.flatMap((entry) => (entry.by === 'agent' && entry.turn.taskId === taskId ? [entry.turn] : []));
  return new Set(turns.flatMap((turn) => [...turn.shown.keys()]));
}

/** No task is running, or the running task has asked a question. */
function canSay(chat: ChatSession): boolean {
  return chat.isBusy.value !== true || lastTurn(chat)?.question !== undefined;
}

/** Answers the agent's question with one of its options. */
export function choose(chat: ChatSession, optionId: string): Promise<void> {
  return sayIn(chat, [createDataPart({ optionId })]);
}

/** Cancels the running task of a chat. */
export async function cancelIn(chat: ChatSession): Promise<void> {
  const turn = lastTurn(chat);
  if (turn?.taskId === undefined) return void chat.handle?.cancel();
  try {
    await (await clientFor(chat.target)).cancel(turn.taskId);
    if (chat.isBusy.value !== true) turn.state = 'TASK_STATE_CANCELED';
  } catch (thrown) {
    turn.problem = wordsFor(thrown);
  }
  settle(turn);
}
