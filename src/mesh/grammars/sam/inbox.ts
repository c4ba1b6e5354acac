import { parseJson, readAnswer } from '#bindings';
import type { Seq, Task, TaskEvent } from '#protocol';
import { A2AError, createTaskStatus, DEFAULT_READ_LIMITS, foldEvent, randomIds, seq } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import type { MeshContext, MeshParticipant, Stop } from '../grammar.ts';
import { WIRE } from './dialects.ts';
import { INSTANCE_TOPIC, SEQ } from './properties.ts';
import * as topics from './topics.ts';

/** What has come for one task. */
export interface SamResponse {
  readonly event?: TaskEvent;
  readonly error?: A2AError;
  /** On the topic of answers: nothing follows. */
  readonly isAnswer: boolean;
  readonly seq?: Seq;
}

/** All answers to one participant, sorted by the task that the topic names. */
export interface SamInbox {
  responseTopic(task: string): string;
  statusTopic(task: string): string;
  /** Hears what comes for a task from now on. */
  listen(task: string, listener: (word: SamResponse) => void): () => void;
  /** What is known of a task, also of one that nobody listens for: an answer may come while its caller is being restarted. */
  known(task: string): Task | undefined;
  /** Where the replica that has the task is asked about it. */
  instanceOf(task: string): string | undefined;
  close: Stop;
}

const REMEMBERED_MAX = 1000;
const ENV = { ids: randomIds, limits: DEFAULT_READ_LIMITS };

interface Remembered {
  task: Task | undefined;
  instance: string | undefined;
}

/** The tasks that were heard of last. */
function createMemory(): { of(task: string): Remembered; get(task: string): Remembered | undefined } {
  const remembered = new Map<string, Remembered>();
  return {
    get: (task) => remembered.get(task),
    of: (task) => {
      const found = remembered.get(task) ?? { task: undefined, instance: undefined };
      remembered.delete(task);
      remembered.set(task, found);
      const [oldest] = remembered.keys();
      if (remembered.size > REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
      return found;
    },
  };
}

export async function openInbox({ kind, id }: MeshParticipant, place: MeshContext): Promise<SamInbox> {
  const { broker, namespace, counts } = place;
  const listeners = new Map<string, Set<(word: SamResponse) => void>>();
  const memory = createMemory();
  const own = kind === 'gateway' ? GATEWAY : AGENT;
  // One subscription for both: a broker keeps the order within one, and the answer must not overtake what came before it.
  const filter = topics.filterOf(own.responses(namespace, id)).replace(`/${kind}/response/`, `/${kind}/+/`);
  const answers = own.response(namespace, id, '_').slice(0, -1);
  const statuses = own.status(namespace, id, '_').slice(0, -1);
  const handle = (message: ReceivedMessage): void => {
    const isAnswer = message.topic.startsWith(answers);
    const task = topics.taskIdIn(message.topic);
    if (message.isRetained || task === undefined || !(isAnswer || message.topic.startsWith(statuses))) {
      counts.ignored += 1;
      return;
    }
    const words = wordsIn(message, isAnswer);
    if (words.length === 0) counts.dropped += 1;
    const known = memory.of(task);
    known.instance = instanceIn(message, namespace) ?? known.instance;
    for (const word of words) {
      known.task = folded(known.task, word);
      for (const listener of listeners.get(task) ?? []) listener(word);
    }
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
    known: (task) => memory.get(task)?.task,
    instanceOf: (task) => memory.get(task)?.instance,
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

/** Only a place for requests of this namespace is believed. */
function instanceIn({ properties }: ReceivedMessage, namespace: string): string | undefined {
  const topic = properties[INSTANCE_TOPIC];
  return topic?.startsWith(`${topics.getA2ABaseTopic(namespace)}/agent/request/`) === true ? topic : undefined;
}

/** An event of a task of which nothing else is known says little of it. */
function folded(task: Task | undefined, { event }: SamResponse): Task | undefined {
  if (event === undefined) return task;
  try {
    return beginning(task, event).reduce(foldEvent, task);
  } catch {
    return task;
  }
}

/** A peer that has a task under way says so with an update; to everybody else a stream begins with the task. */
export function beginning(task: Task | undefined, event: TaskEvent): readonly TaskEvent[] {
  if (task !== undefined || event.task !== undefined || event.message !== undefined) return [event];
  const { taskId, contextId } = event.statusUpdate ?? event.artifactUpdate;
  const status = event.statusUpdate?.status ?? createTaskStatus('TASK_STATE_WORKING');
  const first: TaskEvent = { task: { id: taskId, ...(contextId === '' ? {} : { contextId }), status } };
  return event.statusUpdate === undefined ? [first, event] : [first];
}

/** Both spellings are read alike. What can't be read is none. */
export function wordsIn({ payload, properties }: ReceivedMessage, isAnswer: boolean): readonly SamResponse[] {
  const parsed = parseJson(payload, DEFAULT_READ_LIMITS.jsonDepthMax);
  const answer = parsed.ok ? readAnswer(parsed.value) : undefined;
  if (answer?.kind === 'error') return [{ error: readError(answer.error), isAnswer: true }];
  if (answer?.kind !== 'result') return [];
  const decoded = WIRE.decode('event', answer.result, ENV);
  if (!decoded.ok) return isAnswer ? [{ error: new A2AError('INVALID_AGENT_RESPONSE', "the agent's answer can't be read"), isAnswer }] : [];
  const at = /^\d{1,15}$/.test(properties[SEQ] ?? '') ? { seq: seq(Number(properties[SEQ])) } : {};
  return [{ event: decoded.value, isAnswer, ...at }];
}

function readError(raw: unknown): A2AError {
  return WIRE.error.read(raw);
}
