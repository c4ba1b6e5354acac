import type { ConversationPage, ConversationRange, ConversationSummary, Message } from '#protocol';
import { A2AError, NO_EVENT, seq, seqBefore } from '#protocol';
import type { ContextFilter, ListPosition, LogEntry, Store, TaskKey, TaskRow } from '../ports.ts';
import { taskKey } from '../ports.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import { SaidInTask, shortened, sizeOfMessage } from './said.ts';

/** What reading a conversation needs of the engine. */
export interface ConversationParts {
  readonly store: Pick<Store, 'entries' | 'list'>;
}

/** Whose conversation, with which agent. */
export interface ConversationOf extends ContextFilter {
  /** The task of a running turn. Its messages before that turn come last. */
  readonly current?: LiveTask;
}

const MESSAGES_MAX = 100;
const BYTES_MAX = 262_144;
/** Tasks that are listed at once, and entries that are read at once. */
const ROWS = 16;
const PAGE = 512;

/** Where a page starts: after a row of the list, and how many messages of the next task other pages have. */
interface Position {
  readonly after: ListPosition | undefined;
  readonly taken: number;
  /** The next task is the current one, which is not read from the list. */
  readonly inCurrent: boolean;
}

const START: Position = { after: undefined, taken: 0, inCurrent: true };

/**
 * The messages of one caller's context, from the newest task to the oldest, until a limit is reached or
 * the rest is covered by the agent's summary.
 */
export async function readConversation(
  parts: ConversationParts,
  of: ConversationOf,
  range: ConversationRange = {},
): Promise<ConversationPage> {
  const page = new Page(range);
  const from = range.before === undefined ? START : positionOf(range.before);
  for await (const { at, read } of tasksFrom(parts, of, from)) {
    if (page.isCovered) break;
    if (page.needsNoMore) return page.endedAt(at);
    const taken = page.add(await read(page.bytesMax), at.taken);
    if (taken !== undefined) return page.endedAt({ ...at, taken });
  }
  return page.ended();
}

interface ReadableTask {
  /** The position of a page that starts with this task. */
  readonly at: Position;
  read(bytesMax: number): Promise<SaidInTask>;
}

/** The tasks of a context from a position on, newest first. Only listed, not read. */
async function* tasksFrom(parts: ConversationParts, of: ConversationOf, from: Position): AsyncGenerator<ReadableTask> {
  const { owner, agent, contextId, current } = of;
  let { after, taken } = from;
  if (current !== undefined && from.inCurrent) {
    yield { at: from, read: (bytesMax) => saidBeforeTurn(parts, current, bytesMax) };
    taken = 0;
  }
  for (;;) {
    const rows = await parts.store.list({ owner, agent, contextId, limit: ROWS, ...(after === undefined ? {} : { after }) });
    for (const row of rows) {
      if (row.key !== current?.row.key) {
        yield { at: { after, taken, inCurrent: false }, read: (bytesMax) => saidIn(parts, row, bytesMax) };
        taken = 0;
      }
      after = { statusAt: row.statusAt, key: row.key };
    }
    if (rows.length < ROWS) return;
  }
}

/** Collects messages from the newest to the oldest, up to the limits. */
class Page {
  readonly bytesMax: number;
  readonly #newestFirst: Message[] = [];
  readonly #messagesMax: number;
  #bytesLeft: number;
  #summary: ConversationSummary | undefined;
  #isCovered = false;

  constructor({ messagesMax = MESSAGES_MAX, bytesMax = BYTES_MAX }: ConversationRange) {
    this.#messagesMax = Math.max(1, messagesMax);
    this.bytesMax = bytesMax;
    this.#bytesLeft = bytesMax;
  }

  get isFull(): boolean {
    return this.#newestFirst.length >= this.#messagesMax || this.#bytesLeft <= 0;
  }

  /** With a summary the next message must be seen: the summary may cover it. */
  get needsNoMore(): boolean {
    return this.isFull && this.#summary === undefined;
  }

  /** The summary covers everything that is older. */
  get isCovered(): boolean {
    return this.#isCovered;
  }

  /** Returns how many messages of the task are on this and other pages, if not all fit. */
  add({ messages, summary }: SaidInTask, taken: number): number | undefined {
    this.#summary ??= summary;
    for (let next = messages.length - 1 - taken; next >= 0 && !this.#isCovered; next -= 1) {
      const message = messages[next];
      if (message === undefined) continue;
      this.#isCovered = this.#isLastCovered(message);
      if (this.#isCovered) return undefined;
      const kept = this.isFull ? undefined : shortened(message, { bytesMax: this.#bytesLeft, mayCut: this.#newestFirst.length === 0 });
      if (kept === undefined) return messages.length - 1 - next;
      this.#newestFirst.push(kept);
      this.#bytesLeft -= sizeOfMessage(kept);
    }
    return undefined;
  }

  #isLastCovered({ taskId, messageId }: Message): boolean {
    const covers = this.#summary?.covers;
    return covers !== undefined && covers.taskId === taskId && covers.messageId === messageId;
  }

  ended(): ConversationPage {
    const messages = this.#newestFirst.toReversed();
    return this.#summary === undefined ? { messages } : { messages, summary: this.#summary };
  }

  endedAt({ after, taken, inCurrent }: Position): ConversationPage {
    return { ...this.ended(), earlier: JSON.stringify([after?.statusAt ?? -1, after?.key ?? -1, taken, inCurrent ? 1 : 0]) };
  }
}

function positionOf(before: string): Position {
  const numbers = parsed(before);
  const [statusAt = -1, key = -1, taken = 0, inCurrent = 0] = numbers;
  if (numbers.length !== 4 || !numbers.every((each) => Number.isSafeInteger(each)) || taken < 0) {
    throw new A2AError('INVALID_PARAMS', 'before is not a position of a conversation', { field: 'before' });
  }
  return { after: key < 0 ? undefined : { statusAt, key: taskKey(key) }, taken, inCurrent: inCurrent === 1 };
}

function parsed(before: string): readonly number[] {
  try {
    const value: unknown = JSON.parse(before);
    return Array.isArray(value) ? value.map(Number) : [];
  } catch {
    return [];
  }
}

interface LogRange {
  readonly key: TaskKey;
  readonly from: number;
  /** Called again before each page: the log may have grown. */
  readonly upTo: () => number;
}

/**
 * Adds stored entries. Reads artifacts only up to the maximum size of an answer, and never the content
 * that is stored outside the log. Returns the number of the last entry.
 */
async function addEntries({ store }: ConversationParts, said: SaidInTask, { key, from, upTo }: LogRange): Promise<number> {
  let after = from;
  while (after < upTo()) {
    const only = said.isFull ? { only: 'words' as const } : {};
    const page = await store.entries(key, { after: seq(after), limit: PAGE, bytesMax: said.bytesMax, ...only });
    const last = addUntilFull(said, page, upTo());
    if (last === undefined) break;
    after = last;
  }
  return after;
}

/** Stops after the entry that fills the answer: the rest of the page is read again without artifacts. */
function addUntilFull(said: SaidInTask, page: readonly LogEntry[], upTo: number): number | undefined {
  let last: number | undefined;
  const wasFull = said.isFull;
  for (const entry of page) {
    if (entry.seq > upTo) return last;
    said.add(entry);
    last = entry.seq;
    if (said.isFull && !wasFull) return last;
  }
  return last;
}

async function saidIn(parts: ConversationParts, row: TaskRow, bytesMax: number): Promise<SaidInTask> {
  const said = new SaidInTask(row, bytesMax);
  await addEntries(parts, said, { key: row.key, from: NO_EVENT, upTo: () => row.last });
  return said;
}

/** The messages of the current task before its current turn, durable or not. */
async function saidBeforeTurn(parts: ConversationParts, task: LiveTask, bytesMax: number): Promise<SaidInTask> {
  const said = new SaidInTask(task.row, bytesMax);
  const last = seqBefore(task.row.turn);
  const after = await addEntries(parts, said, { key: task.row.key, from: NO_EVENT, upTo: () => Math.min(task.committed, last) });
  // No await since the last look at `committed`: otherwise an entry could be missed.
  for (const entry of [...task.saving.entries, ...task.pending.entries]) if (entry.seq > after && entry.seq <= last) said.add(entry);
  return said;
}
