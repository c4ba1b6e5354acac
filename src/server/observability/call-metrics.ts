import type { Store, Write } from '#engine';
import { ElsewhereError } from '#engine';
import type { A2AService, CallContext, EventStream, Operation, SendResult, TaskState } from '#protocol';
import { A2AError } from '#protocol';
import type { Capacity } from '../access/limits/capacity.ts';
import type { CallInterceptor, StreamEndListener } from '../agents/intercept.ts';
import { interceptCalls, observeStream } from '../agents/intercept.ts';
import { callerLabels } from './caller-labels.ts';
import { METRICS } from './metric-table.ts';
import type { Histogram, Metrics } from './metrics.ts';

/** Upper bounds for durations, in seconds. */
export const SECONDS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const COUNTS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/**
 * Counts and times each call, by agent, dialect, operation and outcome. Calls beyond the capacity are
 * refused first.
 */
export function meter(metrics: Metrics, capacity: Capacity): (service: A2AService, agent: string) => A2AService {
  const calls = metrics.counter(METRICS.calls);
  const seconds = metrics.histogram({ ...METRICS.callSeconds, buckets: SECONDS });
  const errors = metrics.counter(METRICS.callerErrors);
  const labelOf = callerLabels();
  return (service, agent) => {
    const note = (operation: Operation, ctx: CallContext, { began, thrown, state }: CallEnd): void => {
      if (thrown instanceof ElsewhereError) return; // counted where it is answered
      const outcome = thrown === undefined ? outcomeOf(operation, state) : A2AError.from(thrown).kind;
      calls.add([agent, ctx.dialect, operation, outcome]);
      if (outcome !== 'ok') errors.add([labelOf(ctx), outcome]);
      seconds.observe((performance.now() - began) / 1000, [agent, operation]);
    };
    /** A function of its own, so that its closure does not keep the stream's opener alive. */
    const ending =
      (operation: Operation, ctx: CallContext, began: number): StreamEndListener =>
      (thrown, { wasOpened, state }) => {
        if (wasOpened) capacity.streamClosed(ctx);
        note(operation, ctx, { began, thrown, state });
      };
    const by: CallInterceptor = {
      unary: async ({ operation, ctx }, next) => {
        const began = performance.now();
        try {
          capacity.check(operation, ctx);
          const result = await next(ctx);
          note(operation, ctx, { began, state: operation === 'send' ? (result as SendResult).task?.status.state : undefined });
          return result;
        } catch (thrown) {
          note(operation, ctx, { began, thrown });
          throw thrown;
        }
      },
      stream: ({ operation, ctx }, next) => {
        const open = (): EventStream => {
          capacity.check(operation, ctx);
          capacity.streamOpened(ctx);
          return next(ctx);
        };
        return observeStream(open, ending(operation, ctx, performance.now()));
      },
    };
    return interceptCalls(service, by);
  };
}

interface CallEnd {
  readonly began: number;
  readonly thrown?: unknown;
  /** The state of the task in the result. */
  readonly state?: TaskState | undefined;
}

/** A call that sends a message also fails if its task does. Reading a failed task is no failure. */
function outcomeOf(operation: Operation, state: TaskState | undefined): string {
  if (operation !== 'send' && operation !== 'stream') return 'ok';
  return state === 'TASK_STATE_FAILED' ? 'TASK_FAILED' : state === 'TASK_STATE_REJECTED' ? 'TASK_REJECTED' : 'ok';
}

/** Counts and times the commits of a store. */
export function meteredStore(store: Store, metrics: Metrics): Store {
  const writes = metrics.histogram({ ...METRICS.commitWrites, buckets: COUNTS });
  const seconds = metrics.histogram({ ...METRICS.commitSeconds, buckets: SECONDS });
  return {
    commit: (batch) => timed(store, batch, { writes, seconds }),
    lastKey: () => store.lastKey(),
    ...(store.reserveKeys === undefined ? {} : { reserveKeys: store.reserveKeys.bind(store) }),
    ...(store.lease === undefined ? {} : { lease: store.lease }),
    ...(store.cells === undefined ? {} : { cells: store.cells }),
    ...(store.claim === undefined ? {} : { claim: timedClaim(store.claim.bind(store), { writes, seconds }) }),
    task: (scope, id) => store.task(scope, id),
    byAlias: (owner, agent, alias) => store.byAlias(owner, agent, alias),
    waiting: (filter, limit) => store.waiting(filter, limit),
    send: (name) => store.send(name),
    directAnswers: (owner) => store.directAnswers(owner),
    ...(store.compact === undefined ? {} : { compact: () => store.compact?.() ?? Promise.resolve() }),
    ...(store.names === undefined ? {} : { names: store.names }),
    ...(store.search === undefined ? {} : { search: store.search }),
    list: (query) => store.list(query),
    count: (filter) => store.count(filter),
    entries: (task, range) => store.entries(task, range),
    pushConfigs: (task) => store.pushConfigs(task),
    outbox: (query) => store.outbox(query),
    outboxStats: (cells) => store.outboxStats(cells),
    unfinished: (cells) => store.unfinished(cells),
    quiet: (phase, range) => store.quiet(phase, range),
    finished: (cells) => store.finished(cells),
    close: () => store.close(),
  };
}

interface CommitHistograms {
  readonly writes: Histogram;
  readonly seconds: Histogram;
}

/** Measures a commit. A failed one is not counted. */
function timed(store: Store, batch: readonly Write[], { writes, seconds }: CommitHistograms): void | Promise<void> {
  const began = performance.now();
  const done = (): void => {
    writes.observe(batch.length);
    seconds.observe((performance.now() - began) / 1000);
  };
  const committed = store.commit(batch);
  if (committed instanceof Promise) return committed.then(done);
  done();
}

function timedClaim(claim: NonNullable<Store['claim']>, { writes, seconds }: CommitHistograms): NonNullable<Store['claim']> {
  return async (batch) => {
    const began = performance.now();
    const taken = await claim(batch);
    writes.observe(batch.length);
    seconds.observe((performance.now() - began) / 1000);
    return taken;
  };
}
