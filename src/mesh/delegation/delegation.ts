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

/** The part of a turn that delegation needs. */
export interface DelegatingTurn {
  /** The task of the delegating agent. */
  readonly task: Task;
  readonly history: readonly Message[];
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/** Work for another agent, in the shape of a language model's tool call (docs/dialects/sam.md). */
export interface PeerCall {
  /** Name of the agent on the mesh. */
  readonly agent: string;
  /** What the agent should do, with everything that it needs to know. */
  readonly task_description: string;
  /** Files that the agent should use. */
  readonly artifacts?: readonly { readonly filename: string; readonly version?: number }[];
}

/** The result of one delegated call. */
export interface PeerResult {
  /** The agent that was called. */
  readonly agent: string;
  /** `failed` also if the agent could not be reached. */
  readonly status: 'completed' | 'failed';
  /** The agent's last task. Absent: no agent accepted the call. */
  readonly task?: Task;
  /** Why it failed. */
  readonly error?: string;
}

/** Options of `delegate`. */
export interface DelegationOptions {
  /** The name of the delegating agent on the mesh. */
  readonly self: string;
  /** The agents on the mesh, from `mesh.discover()`. */
  readonly registry: MeshRegistry;
  /** The delegating agent's own: `mesh.call({ kind: 'agent', id: self })`. */
  readonly caller: MeshCaller;
  /** A peer that sends nothing for this time has failed, in milliseconds. Default 10 minutes. */
  readonly timeoutMs?: number;
}

/** Options of one turn of a delegating agent. */
export interface DelegationTurnOptions {
  /**
   * Answers a peer's question. Called for one question at a time. Absent: a peer that asks has failed.
   */
  readonly ask?: (question: Message, agent: string) => Promise<Message>;
  /** Called with each event of a peer. */
  readonly onProgress?: (agent: string, event: TaskEvent) => void;
}

/** The agents that one turn of an agent may delegate to. */
export interface Delegation {
  /** The agents that can be called now. */
  peers(): readonly MeshPeer[];
  /**
   * Runs all calls concurrently. The results are in the order of the calls. Rejects only when the turn
   * is canceled, which cancels the peers too.
   */
  call(calls: readonly PeerCall[]): Promise<readonly PeerResult[]>;
}

const TIMEOUT_MS = 600_000;
const CANCEL_MS_MAX = 5000;

/**
 * Lets one turn of an agent call other agents on the mesh.
 *
 * ```ts
 * const peers = delegate(turn, { self: 'orchestrator', registry, caller });
 * const [result] = await peers.call([{ agent: 'writer', task_description: turn.text }]);
 * ```
 */
export function delegate(turn: DelegatingTurn, options: DelegationOptions, more: DelegationTurnOptions = {}): Delegation {
  const callPath = readCallPath(turn.task.metadata);
  const ask = oneAtATime(more.ask);
  const peers = (): readonly MeshPeer[] =>
    options.registry.peers().filter(({ kind, name }) => kind === 'agent' && name !== options.self && !callPath.agents.includes(name));
  return {
    peers,
    call: async (calls) => {
      const settled = await Promise.all(
        calls.map((call) =>
          delegateOne({ call, turn, options, callPath, ...more, ...(ask === undefined ? {} : { ask }) }).catch((thrown: unknown) =>
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

/** Questions may go to a person, so they are asked one after the other. */
function oneAtATime(ask: DelegationTurnOptions['ask']): DelegationTurnOptions['ask'] {
  if (ask === undefined) return undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (question, agent) => {
    const answer = last.then(() => ask(question, agent));
    last = answer.catch(() => undefined);
    return answer;
  };
}

interface Delegated extends DelegationTurnOptions {
  readonly call: PeerCall;
  readonly turn: DelegatingTurn;
  readonly options: DelegationOptions;
  readonly callPath: CallPath;
}

/** Refuses loops: an agent that waits for this one, directly or through others, would wait for ever. */
function check({ call, options, callPath }: Delegated): void {
  const { agent } = call;
  if (agent === options.self || callPath.agents.includes(agent)) {
    throw new A2AError('INVALID_REQUEST', `delegation loop: ${agent} is already waiting for this agent`);
  }
  if (callPath.depth >= CALL_DEPTH_MAX) {
    throw new A2AError('INVALID_REQUEST', `this request was delegated ${callPath.depth} times; the maximum is ${CALL_DEPTH_MAX}`);
  }
  if (options.registry.agent(agent) === undefined) throw new A2AError('INVALID_REQUEST', `there is no agent ${agent} on the mesh`);
}

/** Calls one peer and waits for its result. */
async function delegateOne(delegated: Delegated): Promise<PeerResult> {
  check(delegated);
  const { call, turn, options, callPath } = delegated;
  const id = await subTaskId(turn, call);
  const idleMsMax = options.timeoutMs ?? TIMEOUT_MS;
  const peer = options.registry.agent(call.agent);
  const link = options.caller.link({
    agent: call.agent,
    ...(peer === undefined ? {} : { card: peer.card }),
    callPath,
    idleMsMax,
    userOf: () => meshUserIn(turn.task.metadata) ?? turn.principal.id,
  });
  let message: Message = firstMessage(call, { id, turn });
  for (;;) {
    const task = await sendTo(delegated, link, { id, message });
    const { state } = task.status;
    if (state === 'TASK_STATE_COMPLETED') return { agent: call.agent, status: 'completed', task };
    if (state !== 'TASK_STATE_INPUT_REQUIRED') return { agent: call.agent, status: 'failed', task, error: reasonOf(task) };
    if (delegated.ask === undefined) {
      await cancelTask(link, id);
      return {
        agent: call.agent,
        status: 'failed',
        task,
        error: `${call.agent} asks a question, and nobody can answer it: ${reasonOf(task)}`,
      };
    }
    const answer = await delegated.ask(questionOf(task, call.agent), call.agent);
    message = { ...answer, role: 'ROLE_USER', messageId: messageId(`${id}:${answer.messageId}`), taskId: taskId(id) };
  }
}

interface OutgoingTurn {
  readonly id: string;
  readonly message: Message;
}

/**
 * Sends one message to the peer and returns the task at the end of the stream. Canceling the turn
 * cancels the peer's task.
 */
async function sendTo({ call, turn, onProgress }: Delegated, link: A2AService, { id, message }: OutgoingTurn): Promise<Task> {
  let task: Task | undefined;
  const cancel = (): void => {
    if (!isLetGo(turn.signal)) void cancelTask(link, id); // a turn that this process only releases continues later
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
    // The peer may still be working, and nobody waits for its result.
    if (!turn.signal.aborted && task !== undefined && !isTerminal(task.status.state)) await cancelTask(link, id);
    throw thrown;
  } finally {
    turn.signal.removeEventListener('abort', cancel);
  }
  if (task === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', `${call.agent} sent no events`);
  return task;
}

function contextOf(principal: Principal, signal: AbortSignal): CallContext {
  const [first] = DIALECTS;
  if (first === undefined) throw new Error('no dialect is registered');
  return { principal, dialect: first.id, extensions: [], signal };
}

async function cancelTask(link: A2AService, id: string): Promise<void> {
  // The link itself knows on whose behalf it cancels.
  await link.cancel({ id: taskId(id) }, contextOf(LOCAL_PRINCIPAL, AbortSignal.timeout(CANCEL_MS_MAX))).catch(() => undefined); // the task has finished, or the peer is unreachable
}

/**
 * The same call of the same turn has the same id, so that a repeated turn finds the existing task and
 * does not start it twice.
 */
async function subTaskId({ task, history }: DelegatingTurn, call: PeerCall): Promise<string> {
  const text = JSON.stringify([task.id, history.length, call.agent, call.task_description, call.artifacts ?? []]);
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return `a2a_subtask_${Array.from(sum.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** The message to the peer, with the metadata that Solace Agent Mesh expects. */
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
  if (status.message === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', `${agent} requires input and does not say which`);
  const { taskId: _, contextId: __, ...question } = status.message;
  return question;
}

function reasonOf({ status }: Task): string {
  const text = status.message?.parts.map((part) => part.text ?? '').join('');
  return text === undefined || text === '' ? `the task ended as ${status.state.slice('TASK_STATE_'.length).toLowerCase()}` : text;
}
