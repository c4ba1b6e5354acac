import type { A2AService, CallContext, EventStream, Logged } from '#protocol';
import { dialectId, isA2AError } from '#protocol';
import type { AgentName } from './agents.ts';
import type { EntryCall } from './forward.ts';
import { Forwarding } from './forward.ts';
import type { SimulatedProcess } from './process.ts';
import { WORLD } from './scheduler.ts';
import { REPLICAS } from './settings.ts';
import type { SimulatedWorld } from './world.ts';

/** How one attempt of a call ended. `refused`: nobody serves there. `lost`: no answer came. */
export type Outcome<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'error'; readonly error: string; readonly isLater: boolean }
  | { readonly kind: 'refused' | 'lost' };

export interface Call<T> {
  readonly what: string;
  readonly agent: AgentName;
  readonly principal: string;
  readonly run: (service: A2AService, ctx: CallContext) => Promise<T>;
  /** Called in the process that answers, when the answer leaves it. */
  readonly onAnswer: (value: T) => void;
}

export interface StreamCall {
  readonly what: string;
  readonly agent: AgentName;
  readonly principal: string;
  readonly open: (service: A2AService, ctx: CallContext) => EventStream;
  readonly onShown: (batch: readonly Logged[]) => void;
  /** Called at the client, in order. */
  readonly onBatch: (batch: readonly Logged[]) => void;
}

const TIMEOUT_MS = 6000;

/** The network between clients and replicas: messages are delayed, lost and repeated. */
export class SimulatedNetwork {
  readonly #world: SimulatedWorld;
  readonly #forwarding: Forwarding;

  constructor(world: SimulatedWorld) {
    this.#world = world;
    this.#forwarding = new Forwarding(world);
  }

  /** One attempt at one replica. */
  call<T>(slot: number, call: Call<T>): Promise<Outcome<T>> {
    const { scheduler, random } = this.#world;
    return new Promise((resolve) => {
      const { done, arrive, abort } = this.#attempt(slot, call.what, resolve);
      const deliver = (process: SimulatedProcess, isFirst: boolean): void => {
        const service = this.#serviceAt(process, call.agent);
        if (service === undefined) {
          if (isFirst) done({ kind: 'refused' }, process);
          return;
        }
        this.#forwarding.call(process, this.#entryCall(call, abort.signal), call.run).then(
          (value) => {
            if (!process.isAlive) return;
            call.onAnswer(value);
            if (isFirst) done({ kind: 'answer', value }, process);
          },
          (thrown: unknown) => (isFirst ? done(errorOf(thrown), process) : undefined),
        );
      };
      arrive((process) => {
        deliver(process, true);
        if (!this.#world.occurs('message repeated', 0.06)) return;
        // A repeated message may arrive at another node: two nodes race for its name.
        const other = this.#world.processAt(random.whole(0, REPLICAS - 1)) ?? process;
        scheduler.later(other, random.whole(0, 800), `${call.what} repeated`, () => deliver(other, false));
      });
    });
  }

  /** One connection that streams. Resolves when it ends. */
  stream(slot: number, call: StreamCall): Promise<Outcome<void>> {
    return new Promise((resolve) => {
      const { done, arrive, abort } = this.#attempt(slot, call.what, resolve);
      arrive((process) => {
        const service = this.#serviceAt(process, call.agent);
        if (service === undefined) done({ kind: 'refused' }, process);
        else void this.#pump(process, call, { done, abort });
      });
    });
  }

  async #pump(
    process: SimulatedProcess,
    call: StreamCall,
    { done, abort }: { done: Attempt<void>['done']; abort: AbortController },
  ): Promise<void> {
    const { scheduler } = this.#world;
    let arrivesAt = 0;
    try {
      for await (const batch of this.#forwarding.stream(process, this.#entryCall(call, abort.signal), call.open)) {
        call.onShown(batch);
        if (this.#world.occurs('stream cut', 0.03)) {
          abort.abort();
          done({ kind: 'lost' }, process);
          return;
        }
        // A little later than the batch before: equal times could be rounded to another order.
        arrivesAt = Math.max(arrivesAt + 0.001, scheduler.now + this.#latency());
        scheduler.later(WORLD, arrivesAt - scheduler.now, `${call.what} batch`, () => {
          if (!abort.signal.aborted) call.onBatch(batch);
        });
      }
      done({ kind: 'answer', value: undefined }, process, arrivesAt - scheduler.now);
    } catch (thrown) {
      done(errorOf(thrown), process, arrivesAt - scheduler.now);
    }
  }

  #entryCall({ what, principal, agent }: Pick<Call<unknown>, 'what' | 'principal' | 'agent'>, signal: AbortSignal): EntryCall {
    return {
      ...{ what, principal, serviceAt: (process) => this.#serviceAt(process, agent) },
      contextOf: (named) => contextOf(named, signal),
    };
  }

  #serviceAt(process: SimulatedProcess, agent: AgentName): A2AService | undefined {
    return process.isServing ? process.engine?.serviceOf(agent) : undefined;
  }

  #latency(): number {
    const { random } = this.#world;
    if (this.#world.occurs('message delayed', 0.02)) return random.whole(200, 3000);
    return 0.2 + random.next() * 3;
  }

  #attempt<T>(slot: number, what: string, resolve: (outcome: Outcome<T>) => void): Attempt<T> {
    const { scheduler } = this.#world;
    const abort = new AbortController();
    const process = this.#world.processAt(slot);
    const settle = (outcome: Outcome<T>): void => {
      cancelTimeout();
      forgetEnd?.();
      // What is still on its way belongs to a connection that the client has given up.
      if (outcome.kind !== 'answer') abort.abort();
      resolve(outcome);
    };
    const cancelTimeout = scheduler.later(WORLD, TIMEOUT_MS, `${what} timeout`, () => {
      abort.abort();
      settle({ kind: 'lost' });
    });
    // A connection to a process that dies ends.
    const forgetEnd = process?.onEnd(() =>
      scheduler.later(WORLD, this.#latency(), `${what} connection ended`, () => settle({ kind: 'lost' })),
    );
    return {
      abort,
      arrive: (run) => {
        if (process === undefined) scheduler.later(WORLD, 1, `${what} refused`, () => settle({ kind: 'refused' }));
        else if (!this.#world.occurs('message lost', 0.02)) scheduler.later(process, this.#latency(), what, () => run(process));
      },
      done: (outcome, from, ms = 0) => {
        if (!from.isAlive || (outcome.kind === 'answer' && this.#world.occurs('answer lost', 0.02))) return;
        scheduler.later(WORLD, Math.max(ms, 0) + this.#latency(), `${what} ${outcome.kind}`, () => settle(outcome));
      },
    };
  }
}

interface Attempt<T> {
  readonly abort: AbortController;
  /** Sends the request. */
  arrive(run: (process: SimulatedProcess) => void): void;
  /** Sends the answer, at least so much later. */
  done(outcome: Outcome<T>, from: SimulatedProcess, ms?: number): void;
}

function contextOf(principal: string, signal: AbortSignal): CallContext {
  return { principal: { id: principal, scopes: [] }, dialect: dialectId('v10'), extensions: [], signal };
}

function errorOf(thrown: unknown): { kind: 'error'; error: string; isLater: boolean } {
  if (!isA2AError(thrown)) throw thrown;
  return { kind: 'error', error: `${thrown.kind}: ${thrown.message}`, isLater: thrown.kind === 'UNAVAILABLE' };
}
