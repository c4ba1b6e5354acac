import type { PushRow } from '../ports.ts';
import type { Core } from '../tasks/core.ts';
import { compose } from './compose.ts';
import type { Courier, Outcome, Vault } from './courier.ts';
import type { Hosts } from './hosts.ts';
import { createHosts } from './hosts.ts';
import type { Lane } from './lane.ts';
import { endOf, hasWork, isOver, restLane } from './lane.ts';
import type { Rows } from './rows.ts';
import { DELAY_MS_MAX, judge, LOOK_AGAIN_MS } from './schedule.ts';
import type { OutboxStats } from './webhooks.ts';

export interface DispatcherParts {
  readonly core: Core;
  readonly courier: Courier;
  readonly vault: Vault | undefined;
  readonly rows: Rows;
  readonly nextNumber: () => number;
  /** The lane has done its work, or is disabled. */
  readonly onClosed: (lane: Lane) => void;
}

interface Tried {
  readonly outcome: Outcome;
  readonly seq: Lane['row']['done'];
}

/** Configs that are looked up at once. */
const LOADING_MAX = 64;

/** Sends what the lanes have, each in its order, as many at once as the limits allow. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #hosts: Hosts;
  readonly #sending = new Set<Promise<void>>();
  readonly #cut = new AbortController();
  readonly #unplaced = new Set<Lane>();
  #lookups = 0;
  #isStopping = false;
  #letters = 0;

  constructor(parts: DispatcherParts) {
    const { limits, ticks, timers } = parts.core;
    this.#parts = parts;
    this.#hosts = createHosts({
      activeMax: limits.deliveriesMax,
      perHostMax: limits.hostDeliveriesMax,
      now: ticks,
      later: timers.later,
      onReopened: () => this.#pump(),
    });
  }

  get stats(): Omit<OutboxStats, 'pending'> {
    return { sending: this.#sending.size, tripped: this.#hosts.open, letters: this.#letters };
  }

  /** There may be something to send. */
  wake(lane: Lane): void {
    if (this.#isStopping || lane.phase !== 'rest') return;
    if (!hasWork(lane)) {
      if (isOver(lane)) this.#finish(lane);
      else restLane(lane);
      return;
    }
    const { core } = this.#parts;
    // Its card says so, which can be another after a restart: then it goes on.
    if (core.agents.get(lane.task.agent)?.card.capabilities.pushNotifications === false) {
      lane.phase = 'parked';
      return;
    }
    const ms = lane.row.dueAt - core.now().ms;
    if (ms > 0 && lane.row.attempts > 0) this.#wait(lane, ms);
    else this.#makeReady(lane);
  }

  /** Its config was replaced, or an operator wants it tried again: now, and as if nothing had been tried. */
  renew(lane: Lane): void {
    const { failingSince: _, problem: __, ...row } = lane.row;
    lane.row = { ...row, attempts: 0, dueAt: this.#parts.core.now().ms };
    this.#parts.rows.put(lane.row);
    if (lane.phase === 'waiting') {
      lane.callOff?.();
      lane.phase = 'rest';
    }
    this.wake(lane);
  }

  close(lane: Lane): void {
    lane.callOff?.();
    if (lane.phase === 'ready') this.#hosts.drop(lane);
    lane.phase = 'closed';
    restLane(lane);
  }

  /** Begins nothing more. What is under way has so long, and is then called off without counting as an attempt. */
  async stop(ms: number): Promise<void> {
    this.#isStopping = true;
    const { core } = this.#parts;
    if (this.#sending.size > 0) {
      const late = Promise.withResolvers<void>();
      const callOff = core.timers.later(ms, late.resolve);
      await Promise.race([Promise.allSettled(this.#sending), late.promise]);
      callOff();
    }
    this.#cut.abort(new DOMException('The server is shutting down.', 'AbortError'));
    await Promise.allSettled(this.#sending);
    this.#parts.rows.flush();
  }

  #wait(lane: Lane, ms: number): void {
    lane.phase = 'waiting';
    restLane(lane);
    // A clock that was set back must not make anybody wait longer than was ever meant.
    lane.callOff = this.#parts.core.timers.later(Math.min(ms, DELAY_MS_MAX), () => {
      lane.callOff = undefined;
      this.#makeReady(lane);
    });
  }

  #makeReady(lane: Lane): void {
    lane.phase = 'ready';
    this.#unplaced.add(lane);
    this.#place();
  }

  /** Where it goes decides whose turn it is. */
  #place(): void {
    while (this.#lookups < LOADING_MAX && !this.#isStopping) {
      const [lane] = this.#unplaced;
      if (lane === undefined) return;
      this.#unplaced.delete(lane);
      this.#lookups += 1;
      void this.#placeOne(lane).finally(() => {
        this.#lookups -= 1;
        this.#pump();
        this.#place();
      });
    }
  }

  async #placeOne(lane: Lane): Promise<void> {
    const { core } = this.#parts;
    try {
      const push = await configOf(core, lane);
      if (lane.phase !== 'ready') return;
      if (push === undefined) this.#finish(lane);
      else this.#hosts.queue(lane, originOf(push));
    } catch (thrown) {
      core.report('a webhook could not be looked up', thrown);
      if (lane.phase === 'ready') this.#wait(lane, LOOK_AGAIN_MS);
    }
  }

  #pump(): void {
    while (!this.#isStopping) {
      const lane = this.#hosts.next();
      if (lane === undefined) return;
      const sent: Promise<void> = this.#send(lane).finally(() => {
        this.#sending.delete(sent);
        this.#pump();
      });
      this.#sending.add(sent);
    }
  }

  async #send(lane: Lane): Promise<void> {
    lane.phase = 'sending';
    const tried = await this.#attempt(lane);
    // Whoever answers is there, even with a refusal.
    this.#hosts.free(lane, tried === undefined ? undefined : tried.outcome.kind !== 'failed');
    if (lane.phase !== 'sending') return;
    lane.phase = 'rest';
    if (tried !== undefined) this.#settle(lane, tried);
  }

  /** Undefined: it was called off, or nobody wants it any more; it counts for nothing. */
  async #attempt(lane: Lane): Promise<Tried | undefined> {
    const { core, courier, vault } = this.#parts;
    try {
      const push = await configOf(core, lane);
      if (push === undefined) return undefined;
      const { delivery, seq } = await compose(core, lane, { push, vault });
      lane.head = seq;
      return { outcome: await courier.deliver(delivery, this.#cut.signal), seq };
    } catch (thrown) {
      if (this.#cut.signal.aborted) return undefined;
      core.report(`an event of task ${lane.task.id} could not be delivered`, thrown);
      const seq = lane.head ?? ((lane.row.done + 1) as Tried['seq']);
      return { outcome: { kind: 'failed', problem: 'it could not be made here; the log says why' }, seq };
    }
  }

  #settle(lane: Lane, { outcome, seq }: Tried): void {
    const { core, nextNumber } = this.#parts;
    const { row, letter } = judge(lane.row, {
      outcome,
      seq,
      last: endOf(lane),
      now: core.now().ms,
      random: Math.random(),
      disableMs: core.limits.webhookDisableMs,
    });
    if (letter !== undefined) {
      this.#letters += 1;
      this.#parts.rows.put({ ...letter, n: row === undefined ? lane.row.n : nextNumber() });
      core.report(`a webhook of task ${lane.task.id} could not be told of its events`, new Error(letter.problem));
    }
    if (row === undefined) {
      this.close(lane);
      this.#parts.onClosed(lane);
    } else {
      if (row.done !== lane.row.done) lane.head = undefined;
      lane.row = row;
      this.#parts.rows.put(row);
      this.wake(lane);
    }
    if (letter !== undefined) this.#parts.rows.flush();
  }

  #finish(lane: Lane): void {
    this.#parts.rows.drop(lane.row.n);
    this.close(lane);
    this.#parts.onClosed(lane);
  }
}

async function configOf(core: Core, { row, task }: Lane): Promise<PushRow | undefined> {
  const rows = await core.store.pushConfigs(task.key);
  return rows.find(({ config }) => config.id === row.config);
}

function originOf({ config }: PushRow): string {
  return URL.parse(config.url)?.origin ?? '';
}
