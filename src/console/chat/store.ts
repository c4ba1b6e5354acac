import { signal } from '@preact/signals';
import type { SendHandle } from '#client';
import type { Part, Task, TaskEvent } from '#protocol';
import { createDataPart, createFilePartFromBytes, createTextPart, isInterrupted, isTerminal } from '#protocol';
import type { Target } from '../agents/known.ts';
import { clientFor, titleOf } from '../agents/known.ts';
import { wordsFor } from '../api.ts';
import type { AgentTurn } from './turn.ts';
import { newTurn, take } from './turn.ts';

export type ChatEntry = { readonly by: 'user'; readonly parts: readonly Part[] } | { readonly by: 'agent'; readonly turn: AgentTurn };

export interface Chat {
  readonly id: string;
  readonly target: Target;
  readonly entries: ReturnType<typeof signal<readonly ChatEntry[]>>;
  readonly isBusy: ReturnType<typeof signal<boolean>>;
  readonly title: ReturnType<typeof signal<string>>;
  contextId: string | undefined;
  handle: SendHandle | undefined;
  leaving: AbortController;
}

/** Several at a time, for as long as the page lives; what was said is in the node's log anyway. */
export const chats = signal<readonly Chat[]>([]);
let made = 0;

export function openChat(target: Target): Chat {
  made += 1;
  const chat: Chat = {
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

/** A chat that goes on where a task stands: with what was said so far, and with what it is at now. */
export function resumeIn(target: Target, task: Task): Chat {
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

async function followAgain(chat: Chat, turn: AgentTurn, id: string): Promise<void> {
  chat.isBusy.value = true;
  try {
    const client = await clientFor(chat.target);
    turn.shown.clear(); // the stream begins with the task as it then is
    await follow(turn, client.subscribe(id, { signal: chat.leaving.signal }), new Set());
  } catch (thrown) {
    if (!turn.isLeft) turn.problem = wordsFor(thrown);
  }
  turn.endedMs = performance.now() - turn.began;
  if (!turn.isLeft) chat.isBusy.value = false;
  bump(turn);
}

export function closeChat(chat: Chat): void {
  chat.leaving.abort();
  chats.value = chats.value.filter(({ id }) => id !== chat.id);
}

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

/** Says something, and takes in what the agent answers. A task that waits is answered; otherwise a new one begins in the context. */
export async function sayIn(chat: Chat, parts: readonly Part[]): Promise<void> {
  const waiting = lastTurn(chat);
  if (parts.length === 0 || !canSay(chat)) return;
  // An agent that waits for a credential may go on by itself, so its stream is still open: whoever answers has heard enough of it.
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
    const handle = client.stream(parts, { ...thread, signal: chat.leaving.signal });
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

/** Gives way to the screen every few milliseconds, and draws a fast stream twenty times a second: nobody reads faster. */
export async function follow(turn: AgentTurn, events: AsyncIterable<TaskEvent>, before: ReadonlySet<string>): Promise<void> {
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

export function bump(turn: AgentTurn): void {
  turn.version.value = (turn.version.value ?? 0) + 1;
}

function settle(turn: AgentTurn): void {
  turn.question = undefined;
  bump(turn);
}

export function lastTurn(chat: Chat): AgentTurn | undefined {
  const last = (chat.entries.value ?? []).findLast((entry) => entry.by === 'agent');
  return last?.by === 'agent' ? last.turn : undefined;
}

function shownIn(entries: readonly ChatEntry[], taskId: string): Set<string> {
  const turns = entries.flatMap((entry) => (entry.by === 'agent' && entry.turn.taskId === taskId ? [entry.turn] : []));
  return new Set(turns.flatMap((turn) => [...turn.shown.keys()]));
}

/** Nothing runs, or what runs has asked something. */
export function canSay(chat: Chat): boolean {
  return chat.isBusy.value !== true || lastTurn(chat)?.question !== undefined;
}

export function choose(chat: Chat, optionId: string): Promise<void> {
  return sayIn(chat, [createDataPart({ optionId })]);
}

export async function cancelIn(chat: Chat): Promise<void> {
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
