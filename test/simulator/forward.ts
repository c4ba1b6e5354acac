import { ElsewhereError } from '#engine';
import type { A2AService, CallContext, EventStream, Logged, Seq, TaskId } from '#protocol';
import { A2AError } from '#protocol';
import type { SimulatedProcess } from './process.ts';
import { LEASE_MS } from './settings.ts';
import type { SimulatedWorld } from './world.ts';

/** Planted defects of the forwarding. */
export interface ForwardDefects {
  /** The receiver of a forwarded call forwards it once more. */
  readonly again?: boolean;
  /** A forwarded call has the name of the entry as its caller. */
  readonly asEntry?: boolean;
  /** A resumed stream begins one event late. */
  readonly skipsOne?: boolean;
}

/** A call as it arrives at a replica from outside. */
export interface EntryCall {
  readonly what: string;
  readonly principal: string;
  readonly serviceAt: (process: SimulatedProcess) => A2AService | undefined;
  readonly contextOf: (principal: string) => CallContext;
}

/** Where a call is tried, and how often it was forwarded on its way there. */
interface Place {
  readonly process: SimulatedProcess;
  readonly hops: number;
}

/** How long an entry holds a call while nobody owns its cell. */
const HOLD_MS = LEASE_MS + 2000;
/** How old the list of owners may be. */
const VIEW_MS = 500;

/**
 * A model of what a node does with calls for cells of other nodes: it forwards them once, over a link that has delays and ends with the other
 * process. A receiver that does not own the cell sends the call back, and the entry looks for the owner again.
 */
export class Forwarding {
  readonly #world: SimulatedWorld;
  readonly #views = new Map<number, { readonly at: number; readonly owners: readonly (number | undefined)[] }>();

  constructor(world: SimulatedWorld) {
    this.#world = world;
  }

  /** Runs a call at the entry, or at the owner of its cell. */
  async call<T>(entry: SimulatedProcess, call: EntryCall, run: (service: A2AService, ctx: CallContext) => Promise<T>): Promise<T> {
    return await this.#routed(entry, (process) => {
      const [service, ctx] = this.#at(process, entry, call);
      return this.#orEnd(process, run(service, ctx));
    });
  }

  /** Opens a stream at the entry, or at the owner. When the cell changes hands, it continues there after the last event. */
  async *stream(entry: SimulatedProcess, call: EntryCall, open: (service: A2AService, ctx: CallContext) => EventStream): EventStream {
    let [last, task]: [Seq | undefined, TaskId | undefined] = [undefined, undefined];
    const opened = (process: SimulatedProcess): AsyncIterator<readonly Logged[]> => {
      const [service, ctx] = this.#at(process, entry, call);
      const source = task === undefined || last === undefined ? open(service, ctx) : service.subscribe({ id: task, after: last }, ctx);
      return source[Symbol.asyncIterator]();
    };
    let owner: SimulatedProcess = entry;
    let reading: AsyncIterator<readonly Logged[]> | undefined;
    const stopReading = (): void => {
      reading?.return?.().catch(() => {});
      reading = undefined;
    };
    // The owner notices when the link to the entry breaks.
    const forget = entry.onEnd(() => owner !== entry && stopReading());
    try {
      for (;;) {
        const step = await this.#routed(
          entry,
          (process) => {
            if (process !== owner) stopReading();
            reading ??= opened(process);
            owner = process;
            return this.#orEnd(process, reading.next());
          },
          { from: owner, onMoved: stopReading },
        );
        if (step.done === true) return;
        const skipped = this.#world.defect.forward?.skipsOne === true && owner !== entry ? 1 : 0;
        const fresh: readonly Logged[] =
          last === undefined ? step.value : step.value.filter(({ seq }) => Number(seq) > Number(last) + skipped);
        task = idOf(step.value) ?? task;
        last = step.value.at(-1)?.seq ?? last;
        if (fresh.length > 0) yield fresh;
      }
    } finally {
      forget();
      stopReading();
    }
  }

  /** Tries the entry first, and then the owner of the cell, until somebody answers or the call was held for too long. */
  async #routed<T>(
    entry: SimulatedProcess,
    attempt: (process: SimulatedProcess) => Promise<T>,
    { from = entry, onMoved }: { readonly from?: SimulatedProcess; readonly onMoved?: () => void } = {},
  ): Promise<T> {
    const { scheduler, findings } = this.#world;
    const deadline = scheduler.now + HOLD_MS;
    let place: Place = { process: from, hops: from === entry ? 0 : 1 };
    for (;;) {
      const { process, hops } = place;
      findings.check('one-hop', hops <= 1, () => `a call of ${entry.name} took ${hops} hops`);
      try {
        return await attempt(process);
      } catch (thrown) {
        if (!(thrown instanceof ElsewhereError || thrown instanceof LinkEnded) || scheduler.now > deadline) throw unwrapped(thrown);
        onMoved?.();
        place = await this.#moved(entry, place, thrown instanceof ElsewhereError ? thrown.cell : undefined);
      }
    }
  }

  /** Where a call goes next, after the cell was not there. */
  async #moved(entry: SimulatedProcess, { process, hops }: Place, cell: number | undefined): Promise<Place> {
    const { scheduler, random, defect } = this.#world;
    const wasForwarded = process !== entry;
    if (wasForwarded) await scheduler.sleep(entry, random.whole(20, 200), 'looks for the owner');
    const owner = cell === undefined ? undefined : this.#ownerOf(entry, cell, wasForwarded);
    if (owner === undefined || owner === entry) {
      if (!wasForwarded) await scheduler.sleep(entry, random.whole(20, 200), 'waits for an owner');
      return { process: entry, hops: 0 };
    }
    this.#world.count('call forwarded');
    await scheduler.sleep(entry, 0.2 + random.next(), 'forwarded');
    return { process: owner, hops: wasForwarded && defect.forward?.again === true ? hops + 1 : 1 };
  }

  /** The service of a replica, and the context of the call there. */
  #at(process: SimulatedProcess, entry: SimulatedProcess, { principal, serviceAt, contextOf }: EntryCall): [A2AService, CallContext] {
    const service = serviceAt(process);
    if (service === undefined) throw process === entry ? new A2AError('UNAVAILABLE', 'the node is not ready') : new LinkEnded();
    const named = process !== entry && this.#world.defect.forward?.asEntry === true ? entry.name : principal;
    return [service, contextOf(named)];
  }

  /** Who owns the cell, as the entry last read it. A negative cell: anybody else who owns one. */
  #ownerOf(entry: SimulatedProcess, cell: number, isStale: boolean): SimulatedProcess | undefined {
    const { scheduler, server, checker, random } = this.#world;
    const known = this.#views.get(entry.n);
    const isOld = known === undefined || isStale || scheduler.now - known.at > VIEW_MS;
    if (isOld && entry.line.cutUntil <= scheduler.now) {
      const owners = server.tables.cells.map(({ replica }) => (replica === undefined ? undefined : checker.processOf(replica)));
      this.#views.set(entry.n, { at: scheduler.now, owners });
    }
    const owners = this.#views.get(entry.n)?.owners ?? [];
    const others = owners.filter((process) => process !== undefined && process !== entry.n);
    const wanted = cell >= 0 ? owners[cell] : others[random.whole(0, Math.max(0, others.length - 1))];
    return this.#world.processes().find(({ n, isServing }) => n === wanted && isServing);
  }

  /** A link to a process that dies ends. */
  #orEnd<T>(process: SimulatedProcess, answer: Promise<T>): Promise<T> {
    const { scheduler, random } = this.#world;
    return new Promise((resolve, reject) => {
      const forget = process.onEnd(
        () => void scheduler.later(WORLD_LINK, random.whole(1, 20), 'link ended', () => reject(new LinkEnded())),
      );
      answer.then(resolve, reject).finally(forget);
    });
  }
}

/** The other end of a link is gone. */
class LinkEnded extends Error {}

const WORLD_LINK = { name: 'link', isAlive: true, pausedUntil: 0 };

function unwrapped(thrown: unknown): unknown {
  return thrown instanceof LinkEnded ? new A2AError('UNAVAILABLE', 'the node that has the task has ended') : thrown;
}

function idOf([first]: readonly Logged[]): TaskId | undefined {
  return first?.event.task?.id ?? first?.event.statusUpdate?.taskId ?? first?.event.artifactUpdate?.taskId;
}
