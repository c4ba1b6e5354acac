import type { Logged } from '#protocol';
import type { PushRow } from '../ports.ts';
import { entriesIn, foldTo, withHistory } from '../read/fold.ts';
import { nameFor, renameEvent, renameTask } from '../read/task-names.ts';
import type { Core } from '../tasks/core.ts';
import { hold, release } from '../tasks/core.ts';
import type { Carrier, Reply } from './courier.ts';
import type { Lane, ReplyTo } from './lane.ts';
import { endOf, hasWork, isOver } from './lane.ts';
import type { Rows } from './rows.ts';

/** Configs of replies are known by their names and their addresses; callers can choose neither. */
export const REPLY_ID = 'reply/';
const REPLY_URL = 'reply:';

export function replyUrl({ to }: ReplyTo): string {
  return `${REPLY_URL}${to}`;
}

export function isReply({ config }: PushRow): boolean {
  return config.url.startsWith(REPLY_URL);
}

export function replyIn(push: PushRow): ReplyTo | undefined {
  return isReply(push) ? { to: push.config.url.slice(REPLY_URL.length), dialect: push.dialect } : undefined;
}

export interface RepliesParts {
  readonly core: Core;
  readonly carrier: Carrier;
  readonly rows: Rows;
  readonly onClosed: (lane: Lane) => void;
}

/** A broker that is away comes back, and then everybody waits: soon again, but not all the time. */
const RETRY_MS = 100;
const RETRY_MS_MAX = 2000;
/** Queues that are carried at once. */
const CARRYING_MAX = 256;

/**
 * Carries answers to where bindings want them. Like webhooks these are places in logs; unlike them all go one way, to a broker that is there
 * or not, so that there is no host to spare and no letter to set aside: each is carried until it has arrived, and many events at once.
 */
export class Replies {
  readonly #parts: RepliesParts;
  readonly #carrying = new Set<Promise<void>>();
  readonly #cut = new AbortController();
  readonly #ready: Lane[] = [];
  #isStopping = false;

  constructor(parts: RepliesParts) {
    this.#parts = parts;
  }

  get carrying(): number {
    return this.#carrying.size;
  }

  wake(lane: Lane): void {
    if (this.#isStopping || lane.phase !== 'rest') return;
    if (isOver(lane)) this.#finish(lane);
    else if (hasWork(lane)) {
      lane.phase = 'ready';
      this.#ready.push(lane);
      this.#pump();
    }
  }

  close(lane: Lane): void {
    lane.callOff?.();
    lane.phase = 'closed';
  }

  async stop(ms: number): Promise<void> {
    const { timers } = this.#parts.core;
    if (this.#carrying.size > 0 && ms > 0) {
      const late = Promise.withResolvers<void>();
      const callOff = timers.later(ms, late.resolve);
      await Promise.race([this.#idle(), late.promise]);
      callOff();
    }
    this.#isStopping = true;
    this.#cut.abort(new DOMException('The server is shutting down.', 'AbortError'));
    await Promise.allSettled(this.#carrying);
  }

  async #idle(): Promise<void> {
    while (this.#carrying.size > 0) await Promise.allSettled(this.#carrying);
  }

  #pump(): void {
    while (this.#carrying.size < CARRYING_MAX && !this.#isStopping) {
      const lane = this.#ready.shift();
      if (lane === undefined) return;
      if (lane.phase !== 'ready') continue;
      const carried: Promise<void> = this.#carry(lane).finally(() => {
        this.#carrying.delete(carried);
        this.#pump();
      });
      this.#carrying.add(carried);
    }
  }

  async #carry(lane: Lane): Promise<void> {
    const { core, carrier, rows } = this.#parts;
    lane.phase = 'sending';
    try {
      const reply = await replyFor(core, lane);
      const last = reply?.events.at(-1)?.seq;
      if (reply === undefined || last === undefined) {
        if (lane.phase === 'sending') this.#finish(lane); // the task is gone
        return;
      }
      await carrier.carry(reply, this.#cut.signal);
      if (lane.phase !== 'sending') return;
      lane.row = { ...lane.row, done: Math.min(last, lane.rewind ?? last) as typeof last, attempts: 0 };
      lane.rewind = undefined;
      lane.phase = 'rest';
      if (!isOver(lane)) rows.put(lane.row);
      this.wake(lane);
    } catch (thrown) {
      if (lane.phase !== 'sending') return;
      lane.phase = 'rest';
      if (!this.#cut.signal.aborted) this.#later(lane, thrown);
    }
  }

  #later(lane: Lane, thrown: unknown): void {
    const { core } = this.#parts;
    if (lane.row.attempts === 0) core.report(`an answer of task ${lane.task.id} could not be carried; it is tried again`, thrown);
    lane.row = { ...lane.row, attempts: lane.row.attempts + 1 };
    lane.phase = 'waiting';
    lane.callOff = core.timers.later(Math.min(RETRY_MS * 2 ** (lane.row.attempts - 1), RETRY_MS_MAX), () => {
      lane.callOff = undefined;
      lane.phase = 'rest';
      this.wake(lane);
    });
  }

  #finish(lane: Lane): void {
    this.#parts.rows.forget(lane.row);
    this.close(lane);
    this.#parts.onClosed(lane);
  }
}

/** Everything after the last delivery, as far as a page goes; with the task, if that is all there will be. */
async function replyFor(core: Core, lane: Lane): Promise<Reply | undefined> {
  const { reply, row, task } = lane;
  if (reply === undefined) return undefined;
  const live = await hold(core, 'any', task.id);
  if (live === undefined) return undefined;
  try {
    const { isFinished, isWaiting } = lane.progress;
    const end = endOf(lane);
    const traits = core.traitsOf(reply.dialect);
    const name = nameFor(task, traits);
    const entries = await entriesIn(core, live, { after: row.done, upTo: end });
    const events: readonly Logged[] =
      name === undefined ? entries : entries.map(({ seq, event }) => ({ seq, event: renameEvent(event, name) }));
    const carried = { to: reply.to, agent: task.agent, dialect: reply.dialect, events };
    if (entries.at(-1)?.seq !== end || !(isFinished || isWaiting)) return carried;
    return { ...carried, task: renameTask(withHistory(await foldTo(core, live, end), undefined, traits.historyDefault), name) };
  } finally {
    release(core, live);
  }
}
