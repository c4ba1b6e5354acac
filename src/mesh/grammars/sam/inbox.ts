import { parseJson, readAnswer } from '#bindings';
import type { Seq, Task, TaskEvent } from '#protocol';
import { A2AError, DEFAULT_READ_LIMITS, foldEvent, randomIds, seq } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import type { MeshContext, MeshParticipant, Stop } from '../grammar.ts';
import { startWithTask } from '../shared/events.ts';
import { readSeqNumber } from '../shared/messages.ts';
import { createRecentMap } from '../shared/recent-map.ts';
import { WIRE } from './dialects.ts';
import { INSTANCE_TOPIC, SEQ } from './properties.ts';
import { readSamEvent } from './read-answer.ts';
import * as topics from './topics.ts';

/** One message about a task: an event, or an error. */
export interface SamResponse {
  readonly event?: TaskEvent;
  readonly error?: A2AError;
  /** It came on the response topic: nothing follows. */
  readonly isFinal: boolean;
  readonly seq?: Seq;
}

/** All responses to one participant, sorted by the task that the topic names. */
export interface SamInbox {
  responseTopic(task: string): string;
  statusTopic(task: string): string;
  /** Calls the listener with each later response about a task. */
  listen(task: string, listener: (response: SamResponse) => void): () => void;
  /**
   * The last known state of a task, even without a listener: a response may come while its caller is
   * being restarted.
   */
  known(task: string): Task | undefined;
  /** The request topic of the replica that has the task. */
  instanceOf(task: string): string | undefined;
  close: Stop;
}

const TASKS_MAX = 1000;
const ENV = { ids: randomIds, limits: DEFAULT_READ_LIMITS };

interface KnownTask {
  readonly task: Task | undefined;
  readonly instance: string | undefined;
}

/** Opens the topics for responses to one participant. */
export async function openInbox({ kind, id }: MeshParticipant, { broker, namespace, counts }: MeshContext): Promise<SamInbox> {
  const listeners = new Map<string, Set<(response: SamResponse) => void>>();
  const known = createRecentMap<KnownTask>(TASKS_MAX);
  const own = kind === 'gateway' ? GATEWAY : AGENT;
  // One subscription for responses and statuses: a broker keeps the order only within one subscription.
  const filter = topics.filterOf(own.responses(namespace, id)).replace(`/${kind}/response/`, `/${kind}/+/`);
  const responses = own.response(namespace, id, '_').slice(0, -1);
  const statuses = own.status(namespace, id, '_').slice(0, -1);
  const handle = (message: ReceivedMessage): void => {
    const isFinal = message.topic.startsWith(responses);
    const task = topics.taskIdIn(message.topic);
    if (message.isRetained || task === undefined || !(isFinal || message.topic.startsWith(statuses))) {
      counts.ignored += 1;
      return;
    }
    const before = known.get(task);
    const isOurs = message.properties[INSTANCE_TOPIC] !== undefined;
    const received = responsesIn(message, isFinal).map((response) =>
      isOurs || response.event === undefined ? response : { ...response, event: readSamEvent(response.event, before?.task) },
    );
    if (received.length === 0) counts.dropped += 1;
    known.set(task, {
      task: received.reduce(foldResponse, before?.task),
      instance: instanceIn(message, namespace) ?? before?.instance,
    });
    for (const response of received) for (const listener of listeners.get(task) ?? []) listener(response);
  };
  const stop = await broker.subscribe({ filter, handle });
  return {
    responseTopic: (task) => own.response(namespace, id, task),
    statusTopic: (task) => own.status(namespace, id, task),
    listen: (task, listener) => {
      const all = listeners.get(task) ?? new Set();
      listeners.set(task, all.add(listener));
      return () => {
        all.delete(listener);
        if (all.size === 0 && listeners.get(task) === all) listeners.delete(task);
      };
    },
    known: (task) => known.get(task)?.task,
    instanceOf: (task) => known.get(task)?.instance,
    close: stop,
  };
}

const GATEWAY = {
  responses: topics.getGatewayResponseSubscriptionTopic,
  response: topics.getGatewayResponseTopic,
  status: topics.getGatewayStatusTopic,
};
const AGENT = {
  responses: topics.getAgentResponseSubscriptionTopic,
  response: topics.getAgentResponseTopic,
  status: topics.getPeerAgentStatusTopic,
};

/** Accepts only a request topic of this namespace. */
function instanceIn({ properties }: ReceivedMessage, namespace: string): string | undefined {
  const topic = properties[INSTANCE_TOPIC];
  return topic?.startsWith(`${topics.getA2ABaseTopic(namespace)}/agent/request/`) === true ? topic : undefined;
}

/** Adds an event to the task. An event that can't be added, for example of another task, is ignored. */
function foldResponse(task: Task | undefined, { event }: SamResponse): Task | undefined {
  if (event === undefined) return task;
  try {
    return startWithTask(task, event).reduce(foldEvent, task);
  } catch {
    return task;
  }
}

/** Reads both spellings. Empty when the message can't be read. */
export function responsesIn({ payload, properties }: ReceivedMessage, isFinal: boolean): readonly SamResponse[] {
  const parsed = parseJson(payload, DEFAULT_READ_LIMITS.jsonDepthMax);
  const answer = parsed.ok ? readAnswer(parsed.value) : undefined;
  if (answer?.kind === 'error') return [{ error: WIRE.error.read(answer.error), isFinal: true }];
  if (answer?.kind !== 'result') return [];
  const decoded = WIRE.decode('event', answer.result, ENV);
  if (!decoded.ok) return isFinal ? [{ error: new A2AError('INVALID_AGENT_RESPONSE', "the agent's response can't be read"), isFinal }] : [];
  const number = readSeqNumber(properties[SEQ]);
  return [{ event: decoded.value, isFinal, ...(number === undefined ? {} : { seq: seq(number) }) }];
}
