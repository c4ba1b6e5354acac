import { requestText } from '#bindings';
import { ElsewhereError } from '#engine';
import { A2AError, isObject } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import { isTopic } from '../../topics.ts';
import type { MeshContext } from '../grammar.ts';
import { encode, JSON_TYPE } from './messages.ts';
import type { Serving } from './requests.ts';
import { isNotHere } from './requests.ts';

/** Parley's own method, between replicas: the sender has the task of a request that was passed on. */
export const FOUND = 'parley/taskFound';
/** Parley's own property: the replica that does not have the task and passed this request on. */
const RELAYED_FROM = 'a2aRelayedFrom';
/** No replica has the task if none has said so in this time. */
const FOUND_MS_MAX = 1500;
/** How long a request waits while nobody owns its conversation: another replica takes over after a lease, of 10 s by default. */
const OWNER_MS_MAX = 15_000;

/** Requests that were passed on and wait for a replica that has the task. */
const waiting = new WeakMap<MeshContext, Map<string, (isFound: boolean) => void>>();

/** The topics by which the replicas of an agent reach one another. Both are below the agent's request topic. */
export interface RelayTopics {
  /** That of this replica. */
  readonly own: string;
  /** The one that every replica receives. */
  readonly every: string;
}

/** An agent while it is served by one of several replicas. */
export interface Relaying extends Serving {
  readonly relays: RelayTopics;
  /** Another replica does not have the task and sent the request to all replicas. */
  readonly isRelayed?: true;
}

/** The topics below a request topic. */
export function relayTopics(requestTopic: string, { instance }: Pick<MeshContext, 'instance'>): RelayTopics {
  return { own: `${requestTopic}/${instance}`, every: `${requestTopic}/_all` };
}

/** What to do here, and when no replica has the task. */
export interface RelayedRun {
  readonly run: () => Promise<void>;
  readonly refuse: (error: A2AError) => Promise<void>;
  /** Whether the error says that another replica has the task, or may have it. Default `isNotHere`. */
  readonly isElsewhere?: (thrown: unknown) => boolean;
}

/** The task or conversation is in the cells of another replica on the same store. */
export function isInOtherCells(thrown: unknown): boolean {
  return thrown instanceof ElsewhereError;
}

/**
 * Runs a request about a task. When this replica does not have the task, sends the request to all
 * replicas. The one that has it responds. When none has it, `refuse` is called. A request for another
 * replica on the same store is accepted only when that one has saved it.
 */
export async function orRelay(request: Relayed, serving: Relaying, relayed: RelayedRun): Promise<void> {
  const { run, refuse, isElsewhere = isNotHere } = relayed;
  const giveUpAt = performance.now() + OWNER_MS_MAX;
  for (;;) {
    try {
      await run();
      return await confirm(request, serving);
    } catch (thrown) {
      if (!isElsewhere(thrown) || serving.isRelayed === true) throw thrown;
      const found = relay(request, serving);
      if (!isInOtherCells(thrown)) {
        // The broker is acknowledged at once: many unknown tasks must not keep others waiting.
        void found.then((isFound) => (isFound ? undefined : refuse(A2AError.from(thrown)))).catch(() => undefined);
        return;
      }
      if (await found) return;
      if (serving.signal.aborted) throw thrown;
      if (performance.now() > giveUpAt) return await refuse(A2AError.from(thrown));
    }
  }
}

interface Relayed {
  readonly message: ReceivedMessage;
}

/** Resolves with whether a replica has said that the task is there. */
async function relay({ message }: Relayed, { mesh, signal, relays }: Relaying): Promise<boolean> {
  const id = mesh.ids.next();
  const pending = waiting.get(mesh) ?? new Map<string, (isFound: boolean) => void>();
  waiting.set(mesh, pending);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stop = (): void => resolve(false);
  const timer = setTimeout(stop, FOUND_MS_MAX);
  pending.set(id, resolve);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const { topic: _, isRetained: __, properties, ...rest } = message;
    await mesh.broker.publish({ ...rest, topic: relays.every, properties: { ...properties, [RELAYED_FROM]: `${relays.own}#${id}` } });
    return await promise;
  } finally {
    clearTimeout(timer);
    pending.delete(id);
    signal.removeEventListener('abort', stop);
  }
}

/** Tells the replica that passed the request on that the task is here. Only a replica's topic is accepted. */
async function confirm({ message }: Relayed, { mesh, relays, isRelayed }: Relaying): Promise<void> {
  const from = message.properties[RELAYED_FROM];
  if (isRelayed !== true || from === undefined) return;
  const [topic = '', id = ''] = from.split('#');
  if (!isTopic(topic) || !topic.startsWith(relays.every.slice(0, -'_all'.length))) return;
  await mesh.broker.publish({ topic, payload: encode(requestText(mesh.ids.next(), FOUND, { id })), contentType: JSON_TYPE });
}

/** A replica has the task of a request that this one passed on. */
export function confirmRelay(params: unknown, mesh: MeshContext): void {
  const id = isObject(params) ? params['id'] : undefined;
  if (typeof id === 'string') waiting.get(mesh)?.get(id)?.(true);
}
