import { requestText } from '#bindings';
import { A2AError, isObject } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import { isTopic } from '../../topics.ts';
import type { MeshContext } from '../grammar.ts';
import { encode, JSON_TYPE } from '../shared/messages.ts';
import type { Serving } from '../shared/requests.ts';
import { isNotHere } from '../shared/requests.ts';
import { getEveryInstanceTopic, getInstanceTopic } from './instance-topics.ts';
import type { SamProperties } from './properties.ts';
import { RELAYED_FROM } from './properties.ts';
import { getAgentRequestTopic } from './topics.ts';

/** Parley's own method, between replicas: the sender has the task of a request that was passed on. */
export const FOUND = 'parley/taskFound';
/** No replica has the task if none has said so in this time. */
const FOUND_MS_MAX = 1500;

/** Requests that were passed on and wait for a replica that has the task. */
const waiting = new WeakMap<MeshContext, Map<string, () => void>>();

interface Relayed {
  readonly message: ReceivedMessage;
  readonly properties: SamProperties;
}

interface Relaying extends Serving {
  /** Another replica does not have the task and sent the request to all replicas. */
  readonly isRelayed?: true;
}

/** What to do here, and when no replica has the task. */
export interface RelayedRun {
  readonly run: () => Promise<void>;
  readonly refuse: (error: A2AError) => Promise<void>;
  /** Whether the error says that another replica has the task, or may have it. Default `isNotHere`. */
  readonly isElsewhere?: (thrown: unknown) => boolean;
}

/**
 * Runs a request about a task. When this replica does not have the task, sends the request to all
 * replicas. The one that has it responds. When none has it, `refuse` is called.
 */
export async function orRelay(request: Relayed, serving: Relaying, { run, refuse, isElsewhere = isNotHere }: RelayedRun): Promise<void> {
  try {
    await run();
    const from = request.properties.relayedFrom;
    if (serving.isRelayed === true && from !== undefined) await confirm(from, serving);
  } catch (thrown) {
    if (!isElsewhere(thrown) || serving.isRelayed === true) throw thrown;
    await relay(request, serving, () => void refuse(A2AError.from(thrown)).catch(() => undefined));
  }
}

async function relay({ message }: Relayed, { agent, mesh, signal }: Relaying, onUnknown: () => void): Promise<void> {
  const id = mesh.ids.next();
  const pending = waiting.get(mesh) ?? new Map<string, () => void>();
  waiting.set(mesh, pending);
  const stop = (): void => {
    clearTimeout(timer);
    pending.delete(id);
    signal.removeEventListener('abort', stop);
  };
  const timer = setTimeout(() => {
    stop();
    onUnknown();
  }, FOUND_MS_MAX);
  pending.set(id, stop);
  signal.addEventListener('abort', stop, { once: true });
  const { payload, properties, responseTopic } = message;
  await mesh.broker.publish({
    topic: getEveryInstanceTopic(mesh.namespace, agent.name),
    payload,
    properties: { ...properties, [RELAYED_FROM]: `${getInstanceTopic(mesh, agent.name)}#${id}` },
    ...(responseTopic === undefined ? {} : { responseTopic }),
  });
}

/** Tells the replica that passed the request on that the task is here. Only a replica's topic is accepted. */
async function confirm(from: string, { agent, mesh }: Relaying): Promise<void> {
  const [topic = '', id = ''] = from.split('#');
  if (!isTopic(topic) || !topic.startsWith(`${getAgentRequestTopic(mesh.namespace, agent.name)}/`)) return;
  await mesh.broker.publish({ topic, payload: encode(requestText(mesh.ids.next(), FOUND, { id })), contentType: JSON_TYPE });
}

/** A replica has the task of a request that this one passed on. */
export function confirmRelay(params: unknown, mesh: MeshContext): void {
  const id = isObject(params) ? params['id'] : undefined;
  if (typeof id === 'string') waiting.get(mesh)?.get(id)?.();
}
