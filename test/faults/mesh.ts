import { defineAgent } from '#agents';
import type { ReplyPublisher } from '#engine';
import type { Broker, Grammar, Mesh, MeshCaller } from '#mesh';
import { joinMesh, mqttGrammar, samGrammar } from '#mesh';
import type { Agent, Logged, Task } from '#protocol';
import { foldEvent } from '#protocol';
import { serveOn } from '../mesh/support.ts';
import { programOf } from '../support/brokers.ts';

export const PLACE = 'test/faults';
export const HAS_MOSQUITTO: boolean = programOf('mosquitto') !== undefined;

/** Short timeouts, so that the tests take seconds. */
const profile = { replyFirstTimeoutMs: 1000, streamIdleTimeoutMs: 2000, attemptsMax: 20, retryBackoffMs: [200] };
export const GRAMMARS: readonly (readonly [string, Grammar])[] = [
  ['SAM', samGrammar],
  ['A2A over MQTT', mqttGrammar({ root: 'a2a/v1', profile })],
];

export interface Replica {
  readonly mesh: Mesh;
  close(): Promise<void>;
}

export interface ReplicaOptions {
  readonly agent: Agent;
  readonly grammar?: Grammar;
  readonly namespace?: string;
  /** Changes how replies are published, for controls. */
  readonly replyPublisher?: (replyPublisher: ReplyPublisher) => ReplyPublisher;
}

/** Stands for a process with agents on the mesh: it has its own engine and its own connection. */
export async function replica(broker: Broker, options: ReplicaOptions): Promise<Replica> {
  const { agent, grammar = samGrammar, namespace = PLACE, replyPublisher } = options;
  return await serveOn(broker, [], {
    agents: { worker: agent },
    mesh: { namespace, grammar },
    report: () => undefined,
    ...(replyPublisher === undefined ? {} : { wrapPublisher: replyPublisher }),
  });
}

export async function callerOn(
  broker: Broker,
  grammar: Grammar = samGrammar,
  namespace: string = PLACE,
): Promise<MeshCaller & { readonly mesh: Mesh }> {
  const mesh = joinMesh({ broker, namespace, grammar });
  return { ...(await mesh.call({ kind: 'gateway', id: 'gw' })), mesh };
}

/** Answers `1 2 3 …`, and counts its runs by message. */
export function countingAgent(runs: Map<string, number>, chunks = 5, pauseMs = 30): Agent {
  return defineAgent({
    name: 'worker',
    description: 'counts',
    run: async function* (turn) {
      runs.set(turn.text, (runs.get(turn.text) ?? 0) + 1);
      for (let at = 1; at <= chunks; at += 1) {
        yield `${at} `;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
  });
}

export const COUNTED = '1 2 3 4 5 ';

export async function heardOut(stream: AsyncIterable<readonly Logged[]>, onFirst?: () => void): Promise<Task | undefined> {
  let task: Task | undefined;
  for await (const batch of stream) {
    if (task === undefined) onFirst?.();
    for (const { event } of batch) task = foldEvent(task, event);
  }
  return task;
}

export function textOf(task: Task | undefined): string {
  return (task?.artifacts ?? []).flatMap(({ parts }) => parts.map(({ text }) => text ?? '')).join('');
}

/** What brokers may do, but rarely do: duplicate some messages, and delay some so that others overtake them. */
export function unruly(broker: Broker, seed: number): Broker & { readonly twice: () => number; readonly late: () => number } {
  let state = seed;
  const random = (): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
  let twice = 0;
  let late = 0;
  return {
    ...broker,
    get isConnected() {
      return broker.isConnected;
    },
    subscribe: (subscription) =>
      broker.subscribe({
        ...subscription,
        handle: async (message) => {
          if (random() < 0.2) {
            late += 1;
            await new Promise((resolve) => setTimeout(resolve, 20 + random() * 50));
          }
          await subscription.handle(message);
          if (random() >= 0.2) return;
          twice += 1;
          await subscription.handle(message);
        },
      }),
    twice: () => twice,
    late: () => late,
  };
}
