import type { Agent, AgentCard, AgentOutput, Turn } from '#protocol';
import { createRegistry, DEFAULT_READ_LIMITS, DIALECTS, LOCAL_PRINCIPAL, randomIds } from '#protocol';
import { ExecutorBus } from './bus.ts';
import { createReader, isLastEvent } from './events.ts';
import type { SdkCallContext, SdkCard, SdkExecutor, SdkRequestContext } from './sdk.ts';
import { writeMessage, writeTask } from './to-sdk.ts';

/** Options of `fromExecutor`. */
export interface ExecutorOptions {
  /** Default `fail`. Choose another if running the executor again does no harm. */
  readonly recovery?: Agent['recovery'];
}

/**
 * Runs an executor that was written for `@a2a-js/sdk` 1.x as an agent. Like the SDK's own handler it
 * calls `execute` for each message and `cancelTask` when the task is canceled or times out, and reads
 * events from the bus until a final one, `finished()`, or the end of `execute`. Three things differ: a
 * task that `execute` leaves open is completed, the text of an error stays in the log, and events are
 * stored even if nobody reads them.
 *
 * ```ts
 * const agent = fromExecutor(new MyExecutor(), agentCard);
 * ```
 */
export function fromExecutor(executor: SdkExecutor, card: SdkCard, options: ExecutorOptions = {}): Agent {
  return { card: readCard(card), recovery: options.recovery ?? 'fail', run: (turn) => run(executor, turn) };
}

/** Runs the executor and passes its events on until a final one. */
async function* run(executor: SdkExecutor, turn: Turn): AsyncGenerator<AgentOutput> {
  const bus = new ExecutorBus();
  const read = createReader(turn);
  const failures: unknown[] = [];
  const stop = (): void => {
    // The task has its final state, so further events are ignored. The executor is informed so that it stops working.
    void settled(() => executor.cancelTask(turn.task.id, bus)).then(() => bus.close());
  };
  turn.signal.addEventListener('abort', stop, { once: true });
  void settled(() => executor.execute(requestContext(turn), bus)).then((failure) => {
    if (failure !== undefined) failures.push(failure.thrown);
    bus.close();
  });
  try {
    for (let event = await bus.next(); event !== undefined; event = await bus.next()) {
      for (const output of read(event)) yield output;
      if (isLastEvent(event)) return;
    }
    if (failures.length > 0) throw failures[0];
  } finally {
    turn.signal.removeEventListener('abort', stop);
    bus.close();
  }
}

/** Never rejects: an error after the executor's final event is ignored. */
async function settled(work: () => Promise<void>): Promise<{ readonly thrown: unknown } | undefined> {
  try {
    await work();
    return undefined;
  } catch (thrown) {
    return { thrown };
  }
}

/** The turn in the SDK's form. */
function requestContext(turn: Turn): SdkRequestContext {
  const { task, contextId, message, acceptedOutputModes } = turn;
  const userMessage = writeMessage({ ...message, taskId: task.id, contextId });
  return {
    request: {
      tenant: '',
      message: userMessage,
      configuration: { acceptedOutputModes: [...acceptedOutputModes], returnImmediately: false },
      metadata: undefined,
    },
    userMessage,
    taskId: task.id,
    contextId,
    context: callContext(turn),
    ...(turn.history.length === 0 ? {} : { task: writeTask(task) }),
  };
}

/** The SDK's call context. Every caller but `local` counts as authenticated. */
function callContext({ principal, message }: Turn): SdkCallContext {
  let tenant: string | undefined;
  let requested: string[] | undefined = message.extensions === undefined ? undefined : [...message.extensions];
  let activated: string[] | undefined;
  return {
    user: { isAuthenticated: principal.id !== LOCAL_PRINCIPAL.id, userName: principal.id },
    requestedVersion: '1.0',
    state: new Map(),
    get tenant() {
      return tenant;
    },
    get requestedExtensions() {
      return requested;
    },
    get activatedExtensions() {
      return activated;
    },
    addActivatedExtension: (uri) => {
      activated = [...(activated ?? []).filter((known) => known !== uri), uri];
    },
    setRequestedExtensions: (uris) => {
      requested = uris;
    },
    setTenant: (name) => {
      tenant = name;
    },
  };
}

/**
 * Removes addresses and signatures: our server knows the addresses, and a signature over other
 * addresses would be false.
 */
function readCard(card: SdkCard): AgentCard {
  const raw = withoutCases({ ...card, supportedInterfaces: [], signatures: undefined });
  const found = createRegistry(DIALECTS).readCard(raw, { ids: randomIds, limits: DEFAULT_READ_LIMITS });
  if (found?.card.ok === true) return found.card.value;
  throw new TypeError(`not an agent card: ${JSON.stringify(found?.card ?? 'no dialect recognises it')}`);
}

/** `{ scheme: { $case: 'x', value } }` is JSON's `{ x: value }`. */
function withoutCases(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCases);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (member === undefined || member === '') return [];
    return isCase(member) ? [[member.$case, withoutCases(member.value)]] : [[name, withoutCases(member)]];
  });
  return Object.fromEntries(members);
}

function isCase(value: unknown): value is { readonly $case: string; readonly value: unknown } {
  return typeof value === 'object' && value !== null && '$case' in value && typeof value.$case === 'string';
}
