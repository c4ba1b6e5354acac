import type { AdminConversation, AdminEvent, AdminTask, Message } from '#protocol';
import { isDataPart, isInterrupted, isTerminal, surfaceActionIn } from '#protocol';
import type { ChatTarget } from '../agents/known.ts';
import { targetNamed, titleOf } from '../agents/known.ts';
import { admin, wordsFor } from '../api.ts';
import { timeOf } from '../tasks/spans.ts';
import type { ChatEntry, ChatSession, UserEntry } from './store.ts';
import { chats, openChat } from './store.ts';
import type { ChatTurn } from './turn.ts';
import { bump, newTurn, settle, take } from './turn.ts';

/** More tasks of one conversation are not shown: they are in the list of tasks. */
const TASKS_MAX = 50;
const WAIT_MS = 20_000;

/** Opens a conversation that the node has in its log. Without such a conversation the chat is a new one. */
export function restoreChat(target: ChatTarget, contextId: string): ChatSession {
  const open = chats.value.find((chat) => chat.contextId.value === contextId);
  if (open !== undefined) return open;
  const chat = openChat(target, { contextId });
  void fill(chat, contextId);
  return chat;
}

/** Reads a conversation again that went on elsewhere: by an answer on the page of approvals, or by a message from another browser. */
export async function catchUp(chat: ChatSession, { contextId, statusAt }: AdminConversation): Promise<void> {
  const turns = (chat.entries.value ?? []).flatMap((entry) => (entry.by === 'agent' ? [entry.turn] : []));
  const known = turns.map(({ changedAt }) => Date.parse(changedAt)).filter((ms) => !Number.isNaN(ms));
  if (chat.isBusy.value === true || chat.restored.value !== '' || Date.parse(statusAt) <= Math.max(0, ...known)) return;
  await fill(chat, contextId);
}

/** Reads the tasks of the context, and follows the newest one if it still runs. */
async function fill(chat: ChatSession, contextId: string): Promise<void> {
  const { signal } = chat.leaving;
  const before = chat.entries.value;
  try {
    const { tasks } = await admin.tasks(new URLSearchParams({ contextId, pageSize: '100' }), signal);
    const newest = tasks[0];
    if (newest === undefined) {
      chat.contextId.value = '';
      chat.restored.value = '';
      return;
    }
    // Other callers may have used the same id for a context of theirs.
    const own = tasks.filter(({ principal, tenant }) => principal === newest.principal && tenant === newest.tenant).slice(0, TASKS_MAX);
    chat.target = targetNamed(newest.agent);
    chat.title.value = titleOf(chat.target);
    const logs = await Promise.all(own.map((task) => logOf(task, signal)));
    if (chat.entries.value !== before) return; // the user has sent a message meanwhile
    const last = logs[0]?.at(-1)?.seq ?? 0;
    logs.sort((one, other) => startOf(one).localeCompare(startOf(other)));
    chat.entries.value = logs.flatMap((log) => entriesOf(log, newest.agent));
    chat.restored.value = '';
    await followLog(chat, { id: newest.id, after: last }, signal);
  } catch (thrown) {
    if (!signal.aborted) chat.restored.value = wordsFor(thrown);
  }
}

async function logOf({ id, last }: AdminTask, signal: AbortSignal): Promise<readonly AdminEvent[]> {
  const found: AdminEvent[] = [];
  for (let after = 0; after < last; ) {
    const page = await admin.events(id, after, { signal });
    if (page.length === 0) break;
    found.push(...page);
    after = page.at(-1)?.seq ?? last;
  }
  return found;
}

function startOf(log: readonly AdminEvent[]): string {
  return log[0]?.event.task?.status.timestamp ?? '';
}

/** The log of a task as it was seen in a chat. */
export function entriesOf(log: readonly AdminEvent[], agent = ''): readonly ChatEntry[] {
  const entries: ChatEntry[] = [];
  const shown = new Set<string>();
  let before = new Set<string>();
  let turn: ChatTurn | undefined;
  let since: string | undefined;
  for (const { event, input } of log) {
    const said = input === undefined ? (event.task?.history ?? []).filter(({ role }) => role === 'ROLE_USER') : [input];
    if (said.length > 0 || turn === undefined) {
      const users = said.map((message) => userEntry(message, turn));
      if (turn !== undefined && users[0] !== undefined)
        settle(turn, users[0].chosen ?? users[0].parts.map(({ text = '' }) => text).join(' '));
      before = new Set(shown);
      turn = newTurn(agent);
      since = undefined;
      entries.push(...users, { by: 'agent', turn });
    }
    take(turn, event, before);
    for (const id of turn.shown.keys()) shown.add(id);
    const time = timeOf(event);
    since ??= time;
    turn.endedMs = time === undefined || since === undefined ? (turn.endedMs ?? 0) : Date.parse(time) - Date.parse(since);
  }
  return entries;
}

function userEntry(message: Message, asked: ChatTurn | undefined): UserEntry {
  const { parts, metadata } = message;
  const data = parts.length === 1 && parts[0] !== undefined && isDataPart(parts[0]) ? parts[0].data : undefined;
  const optionId = typeof data === 'object' && data !== null && 'optionId' in data ? String(data['optionId']) : undefined;
  const chosen =
    asked?.asked.at(-1)?.question.choices.find((choice) => choice.optionId === optionId)?.name ??
    optionId ??
    surfaceActionIn(message)?.name;
  const skill = metadata?.['skillId'];
  return { by: 'user', parts, ...(chosen === undefined ? {} : { chosen }), ...(typeof skill === 'string' ? { skill } : {}) };
}

/** Reads on in the log of a task that still runs. */
async function followLog(chat: ChatSession, task: { readonly id: string; readonly after: number }, signal: AbortSignal): Promise<void> {
  const entry = (chat.entries.value ?? []).findLast((each) => each.by === 'agent' && each.turn.taskId === task.id);
  if (entry?.by !== 'agent') return;
  const { turn } = entry;
  const isRunning = (): boolean => turn.state !== undefined && !isTerminal(turn.state) && !isInterrupted(turn.state);
  if (!isRunning()) return;
  turn.endedMs = undefined;
  chat.isBusy.value = true;
  let { after } = task;
  while (!signal.aborted && isRunning()) {
    const more = await admin.events(task.id, after, { waitMs: WAIT_MS, signal });
    for (const { event } of more) take(turn, event, new Set());
    after = more.at(-1)?.seq ?? after;
    bump(turn);
  }
  turn.endedMs = performance.now() - turn.began;
  chat.isBusy.value = false;
  bump(turn);
}
