import type { A2AService, CallContext, Message, Metadata, Principal, Task, TaskEvent } from '#protocol';
import {
  A2AError,
  createUserMessage,
  DIALECTS,
  externalId,
  foldEvent,
  isLetGo,
  isTerminal,
  LOCAL_PRINCIPAL,
  messageId,
  taskId,
} from '#protocol';
import type { MeshPeer, MeshRegistry } from '../discovery/registry.ts';
import type { CallPath, MeshCaller } from '../grammars/grammar.ts';
import { CALL_DEPTH_MAX } from '../grammars/grammar.ts';
import { meshUserIn, readCallPath } from '../grammars/shared/call-path.ts';

/** What delegation needs of a turn. */
export interface DelegatingTurn {
  readonly task: Task;
  readonly history: readonly Message[];
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/** A piece of work for a peer, as a language model says it (reference/dialects §4f). */
export interface PeerCall {
  readonly agent: string;
  readonly task_description: string;
  readonly artifacts?: readonly { readonly filename: string; readonly version?: number }[];
}

/** What became of it. */
export interface PeerResult {
  readonly agent: string;
  readonly status: 'completed' | 'failed';
  /** Its last task. Absent: it was never taken. */
  readonly task?: Task;
  /** Why it failed. */
  readonly error?: string;
}

export interface DelegationOptions {
  /** Who delegates, as it is called on the mesh. */
  readonly self: string;
  readonly registry: MeshRegistry;
  /** Of the agent that delegates: `mesh.call({ kind: 'agent', id: self })`. */
  readonly caller: MeshCaller;
  /** Silence after which a peer counts as lost; each word of it begins anew. */
  readonly timeoutMs?: number;
}

export interface TurnOptions {
  /** Called with a peer's question; what it returns is the answer. Absent: a peer that asks has failed. One question at a time. */
  readonly ask?: (question: Message, agent: string) => Promise<Message>;
  /** Each word of a peer. */
  readonly onProgress?: (agent: string, event: TaskEvent) => void;
}

/** Peers for one turn of an agent. */
export interface Delegation {
  peers(): readonly MeshPeer[];
  /** All at once; the results in the order of the calls. Rejects only when the turn is called off, and then the peers are too. */
  call(calls: readonly PeerCall[]): Promise<readonly PeerResult[]>;
}

const TIMEOUT_MS = 600_000;
const CANCEL_MS_MAX = 5000;

export function delegate(turn: DelegatingTurn, options: DelegationOptions, more: TurnOptions = {}): Delegation {
  const trail = readCallPath(turn.task.metadata);
  const one = oneAtATime(more.ask);
  const peers = (): readonly MeshPeer[] =>
    options.registry.peers().filter(({ kind, name }) => kind === 'agent' && name !== options.self && !trail.agents.includes(name));
  return {
    peers,
    call: async (calls) => {
      const settled = await Promise.all(
        calls.map((call) =>
          delegateOne({ call, turn, options, trail, ...more, ...(one === undefined ? {} : { ask: one }) }).catch((thrown: unknown) =>
            failed(call, thrown, turn.signal),
          ),
        ),
      );
      turn.signal.throwIfAborted();
      return settled;
    },
  };
}

function failed({ agent }: PeerCall, thrown: unknown, signal: AbortSignal): PeerResult {
  if (signal.aborted) throw signal.reason;
  return { agent, status: 'failed', error: A2AError.from(thrown).message };
}

/** The caller is a person, or somebody who can answer one thing at a time. */
function oneAtATime(ask: TurnOptions['ask']): TurnOptions['ask'] {
  if (ask === undefined) return undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (question, agent) => {
    const answer = last.then(() => ask(question, agent));
    last = answer.catch(() => undefined);
    return answer;
  };
}

interface Delegated extends TurnOptions {
  readonly call: PeerCall;
  readonly turn: DelegatingTurn;
  readonly options: DelegationOptions;
  readonly trail: CallPath;
}

/** A peer that waits for us, or for somebody who waits for us, would wait for ever. */
function check({ call, options, trail }: Delegated): void {
  const { agent } = call;
  if (agent === options.self || trail.agents.includes(agent)) {
    throw new A2AError('INVALID_REQUEST', `${agent} waits for this already: delegating to it would be a loop`);
  }
  if (trail.depth >= CALL_DEPTH_MAX) {
    throw new A2AError('INVALID_REQUEST', `this was delegated ${trail.depth} times already; at most ${CALL_DEPTH_MAX} are allowed`);
  }
  if (options.registry.agent(agent) === undefined) throw new A2AError('INVALID_REQUEST', `there is no agent ${agent} on the mesh`);
}

async function delegateOne(delegated: Delegated): Promise<PeerResult> {
  check(delegated);
  const { call, turn, options, trail } = delegated;
  const id = await subTaskId(turn, call);
  const idleMsMax = options.timeoutMs ?? TIMEOUT_MS;
  const link = options.caller.link({
    agent: call.agent,
    trail,
    idleMsMax,
    userOf: () => meshUserIn(turn.task.metadata) ?? turn.principal.id,
  });
  let message: Message = firstMessage(call, { id, turn });
  for (;;) {
    const task = await heardOut(delegated, link, { id, message });
    const { state } = task.status;
    if (state === 'TASK_STATE_COMPLETED') return { agent: call.agent, status: 'completed', task };
    if (state !== 'TASK_STATE_INPUT_REQUIRED') return { agent: call.agent, status: 'failed', task, error: wordsOf(task) };
    if (delegated.ask === undefined) {
      await cancelAt(link, id);
      return { agent: call.agent, status: 'failed', task, error: `${call.agent} asks, and nobody is there to answer: ${wordsOf(task)}` };
    }
    const answer = await delegated.ask(questionOf(task, call.agent), call.agent);
    message = { ...answer, role: 'ROLE_USER', messageId: messageId(`${id}:${answer.messageId}`), taskId: taskId(id) };
  }
}

interface Saying {
  readonly id: string;
  readonly message: Message;
}

/** One message to the peer, and what comes of it. Called off here, it is called off there. */
async function heardOut({ call, turn, onProgress }: Delegated, link: A2AService, { id, message }: Saying): Promise<Task> {
  let task: Task | undefined;
  const cancel = (): void => {
    if (!isLetGo(turn.signal)) void cancelAt(link, id); // a turn that is only let go comes back for it
  };
  turn.signal.addEventListener('abort', cancel, { once: true });
  try {
    for await (const batch of link.stream({ message, alias: externalId(id) }, contextOf(turn.principal, turn.signal))) {
      for (const { event } of batch) {
        task = foldEvent(task, event);
        onProgress?.(call.agent, event);
      }
    }
  } catch (thrown) {
    // It may still be at work there, and nobody waits for it any more.
    if (!turn.signal.aborted && task !== undefined && !isTerminal(task.status.state)) await cancelAt(link, id);
    throw thrown;
  } finally {
    turn.signal.removeEventListener('abort', cancel);
  }
  if (task === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', `${call.agent} said nothing`);
  return task;
}

function contextOf(principal: Principal, signal: AbortSignal): CallContext {
  const [first] = DIALECTS;
  if (first === undefined) throw new Error('there is no dialect at all');
  return { principal, dialect: first.id, extensions: [], signal };
}

async function cancelAt(link: A2AService, id: string): Promise<void> {
  // On whose behalf is the link's own knowledge.
  await link.cancel({ id: taskId(id) }, contextOf(LOCAL_PRINCIPAL, AbortSignal.timeout(CANCEL_MS_MAX))).catch(() => undefined); // finished meanwhile, or out of reach
}

/** The same work of the same turn has the same name, so that a turn that is run again finds it and does not order it twice. */
async function subTaskId({ task, history }: DelegatingTurn, call: PeerCall): Promise<string> {
  const text = JSON.stringify([task.id, history.length, call.agent, call.task_description, call.artifacts ?? []]);
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return `a2a_subtask_${Array.from(sum.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

function firstMessage(call: PeerCall, { id, turn }: { readonly id: string; readonly turn: DelegatingTurn }): Message {
  const { artifacts } = call;
  const metadata: Metadata = {
    agent_name: call.agent,
    sessionBehavior: 'RUN_BASED',
    parentTaskId: turn.task.id,
    ...(artifacts === undefined || artifacts.length === 0 ? {} : { invoked_with_artifacts: artifacts.map((each) => ({ ...each })) }),
  };
  return createUserMessage(call.task_description, { messageId: messageId(`${id}:0`), metadata });
}

function questionOf({ status }: Task, agent: string): Message {
  if (status.message === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', `${agent} waits and does not say for what`);
  const { taskId: _, contextId: __, ...question } = status.message;
  return question;
}

function wordsOf({ status }: Task): string {
  const words = status.message?.parts.map(({ text }) => text ?? '').join('');
  return words === undefined || words === '' ? `it ended as ${status.state.slice('TASK_STATE_'.length).toLowerCase()}` : words;
}
