import { signal } from '@preact/signals';
import type { SendHandle, SendOptions } from '#client';
import type { AgentCard, JsonObject, Part, TaskEvent } from '#protocol';
import { createDataPart, createFilePartFromBytes, createTextPart, isInterrupted } from '#protocol';
import type { ChatTarget } from '../agents/known.ts';
import { clientFor, titleOf } from '../agents/known.ts';
import { wordsFor } from '../api.ts';
import { drawableBy } from './drawable.ts';
import { conversations } from './listed.ts';
import type { ChatTurn } from './turn.ts';
import { bump, newTurn, settle, take } from './turn.ts';

/** A message of the user. */
export interface UserEntry {
  readonly by: 'user';
  readonly parts: readonly Part[];
  /** The chosen option's name, for an answer by a button. */
  readonly chosen?: string;
  /** The id of the skill that a form named. */
  readonly skill?: string;
}

/**
 * One entry of the transcript: a message of the user, or everything that the agent did in response.
 */
export type ChatEntry = UserEntry | { readonly by: 'agent'; readonly turn: ChatTurn };

/** One open chat. */
export interface ChatSession {
  readonly id: string;
  target: ChatTarget;
  readonly entries: ReturnType<typeof signal<readonly ChatEntry[]>>;
  readonly isBusy: ReturnType<typeof signal<boolean>>;
  readonly title: ReturnType<typeof signal<string>>;
  /** The context of the conversation. Empty until the agent has named it. */
  readonly contextId: ReturnType<typeof signal<string>>;
  /** Text that the composer should show, to be edited and sent again. */
  readonly draft: ReturnType<typeof signal<string>>;
  /** Why the conversation could not be read from the log. Empty: it was. Undefined: it is being read. */
  readonly restored: ReturnType<typeof signal<string | undefined>>;
  handle: SendHandle | undefined;
  leaving: AbortController;
}

/** The open chats, kept until the page is closed. Their tasks are in the node's log. */
export const chats = signal<readonly ChatSession[]>([]);
let made = 0;

/** Opens a chat with an agent. Nothing is sent yet. */
export function openChat(target: ChatTarget, { contextId = '' }: { readonly contextId?: string } = {}): ChatSession {
  made += 1;
  const chat: ChatSession = {
    id: `${titleOf(target).replaceAll(/[^\w.-]/g, '-')}-${made}`,
    target,
    entries: signal<readonly ChatEntry[]>([]),
    isBusy: signal<boolean>(false),
    title: signal<string>(titleOf(target)),
    contextId: signal<string>(contextId),
    draft: signal<string>(''),
    restored: signal<string | undefined>(contextId === '' ? '' : undefined),
    handle: undefined,
    leaving: new AbortController(),
  };
  chats.value = [...chats.value, chat];
  return chat;
}

/** What names the chat in addresses: its context, or its number in this page until it has one. */
export function chatKey(chat: ChatSession): string {
  return chat.contextId.value || chat.id;
}

/** How the chat began. Empty without a message. */
export function firstWordsIn(chat: ChatSession): string {
  const first = (chat.entries.value ?? []).find((entry) => entry.by === 'user');
  const text = first?.by === 'user' ? first.parts.map((part) => part.text ?? '').join(' ') : '';
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** The chat in words: its name, or how it began. */
export function chatLabel(chat: ChatSession): string {
  const text = firstWordsIn(chat);
  const agent = chat.title.value ?? 'agent';
  const name = conversations.value?.find(({ contextId }) => contextId === chat.contextId.value)?.name;
  if (name !== undefined) return `${agent}: ${name}`;
  return text === '' ? agent : `${agent}: ${text.length > 24 ? `${text.slice(0, 23)}…` : text}`;
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

/** How a message is sent. */
export interface SayOptions {
  readonly skill?: string;
  /** The chosen option's name, for an answer by a button. */
  readonly chosen?: string;
  /** Metadata of the message. */
  readonly metadata?: JsonObject;
}

/**
 * Sends a message and reads the response. It answers a waiting task, or starts a new task in the
 * context.
 */
export async function sayIn(chat: ChatSession, parts: readonly Part[], { skill, chosen, metadata }: SayOptions = {}): Promise<void> {
  const waiting = lastTurn(chat);
  if (parts.length === 0 || !canSay(chat)) return;
  // An agent that waits for a credential may continue without an answer, so its stream is still open. An answer closes it.
  if (waiting !== undefined && chat.isBusy.value === true) {
    waiting.isLeft = true;
    chat.leaving.abort();
    chat.leaving = new AbortController();
  }
  const taskId = waiting?.state !== undefined && isInterrupted(waiting.state) ? waiting.taskId : undefined;
  const turn = newTurn(chat.target.name);
  const entries = chat.entries.value ?? [];
  const before = taskId === undefined ? new Set<string>() : shownIn(entries, taskId);
  if (waiting !== undefined) settle(waiting, chosen ?? parts.map(({ text = '' }) => text).join(' '));
  const said: UserEntry = { by: 'user', parts, ...(chosen === undefined ? {} : { chosen }), ...(skill === undefined ? {} : { skill }) };
  chat.entries.value = [...entries, said, { by: 'agent', turn }];
  chat.isBusy.value = true;
  try {
    const client = await clientFor(chat.target);
    const context = chat.contextId.value ?? '';
    const thread = { ...(taskId === undefined ? {} : { taskId }), ...(context === '' ? {} : { contextId: context }) };
    const handle = client.stream(parts, { ...thread, ...sendOptions(client.card, { skill, metadata }), signal: chat.leaving.signal });
    chat.handle = handle;
    await follow(turn, named(chat, turn, handle), before);
  } catch (thrown) {
    if (!turn.isLeft) turn.problem = wordsFor(thrown);
  }
  turn.endedMs = performance.now() - turn.began;
  if (turn.isLeft) return bump(turn);
  chat.handle = undefined;
  chat.isBusy.value = false;
  bump(turn);
}

/** What a message says besides its parts: its skill, and that this page draws surfaces. */
function sendOptions(
  card: AgentCard | undefined,
  { skill, metadata }: { skill: string | undefined; metadata: JsonObject | undefined },
): SendOptions {
  const drawable = drawableBy(card);
  return {
    ...(skill === undefined ? {} : { skill }),
    ...(drawable === undefined ? {} : { extensions: [drawable.uri] }),
    ...(drawable === undefined && metadata === undefined ? {} : { messageMetadata: { ...drawable?.metadata, ...metadata } }),
  };
}

/** Notes the context of a chat as soon as an event has named it, so that the address can. */
async function* named(chat: ChatSession, turn: ChatTurn, events: AsyncIterable<TaskEvent>): AsyncGenerator<TaskEvent> {
  for await (const event of events) {
    yield event;
    if (turn.contextId !== undefined && turn.contextId !== chat.contextId.value) chat.contextId.value = turn.contextId;
  }
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
  const name = lastTurn(chat)?.question?.choices.find((choice) => choice.optionId === optionId)?.name;
  return sayIn(chat, [createDataPart({ optionId })], { chosen: name ?? optionId });
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
  settle(turn, '');
}
