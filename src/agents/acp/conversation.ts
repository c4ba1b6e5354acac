import { setTimeout as sleep } from 'node:timers/promises';
import * as acp from '@agentclientprotocol/sdk';
import type { Child } from '../process/child.ts';
import type { Job } from '../run/driver.ts';
import type { RunEvent } from '../run/events.ts';
import { endOf } from '../run/exits.ts';
import type { PushQueue } from '../run/flow.ts';
import { createPushQueue } from '../run/flow.ts';
import { permissionEvent } from './permission.ts';
import { contentOf } from './prompt.ts';
import { choose, detailIn, openSession } from './session.ts';
import { messagesOf } from './stream.ts';
import type { KnownCall } from './updates.ts';
import { eventsOf } from './updates.ts';

/** The maximum number of events in the queue; reading pauses above it. */
const WAITING_MAX = 256;
/** Time for the agent to exit after its input is closed, before it is killed. */
const LEAVE_MS = 1000;
/** A replay counts as complete after this time without a message. */
const QUIET_MS = 200;
/** Maximum wait for the end of a replay. */
const REPLAY_MS_MAX = 5000;

/** Sends one message to a started agent and yields all events until its result. */
export async function* runAcp(job: Job, child: Child, program: string): AsyncGenerator<RunEvent> {
  const flow = createPushQueue<RunEvent>();
  void converse(job, child, flow)
    .catch((thrown: unknown) => failure(thrown, child, program))
    .then((event) => {
      flow.push(event);
      flow.end();
    });
  yield* flow;
}

/**
 * The whole conversation: initialization, session, one message, and the agent's questions. Resolves
 * with the result.
 */
async function converse(job: Job, child: Child, flow: PushQueue<RunEvent>): Promise<RunEvent> {
  const { settings } = job;
  const calls = new Map<string, KnownCall>();
  let isHeard = false;
  let heardAt = 0;
  let spent = 0;
  const connection = acp
    .client({ name: 'parley' })
    .onNotification(acp.methods.client.session.update, ({ params: { update } }) => {
      // A loaded session is replayed from its beginning. The replayed messages are not part of this answer.
      heardAt = performance.now();
      if (!isHeard) return;
      if (update.sessionUpdate === 'usage_update' && update.cost?.currency === 'USD') spent = update.cost.amount;
      for (const event of eventsOf(update, calls)) flow.push(event);
      if (settings.budgetUsd !== undefined && spent > settings.budgetUsd)
        connection.close(new Error(`the budget of ${settings.budgetUsd} USD is spent`));
    })
    .onRequest(acp.methods.client.session.requestPermission, ({ params, signal }) => {
      const { event, outcome } = permissionEvent(params, { calls, signal });
      flow.push(event);
      return outcome;
    })
    .connect(messagesOf(child, () => flow.hasRoom(WAITING_MAX)));
  try {
    const { agent } = connection;
    const greeting = await agent.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      // The agent gets no file or terminal access through us: it is sandboxed, and we are not.
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'parley', version: '1' },
    });
    const session = await openSession(agent, greeting, job);
    if (session.isLoaded) await quiet(() => heardAt);
    await choose(agent, session, job);
    const { sessionId, note } = session;
    await job.keepSession(sessionId, session.isResumable);
    const model = settings.model ?? session.model;
    flow.push({ kind: 'init', sessionId, ...(model === undefined ? {} : { model }), ...(note === undefined ? {} : { note }) });
    isHeard = true;
    job.signal.addEventListener('abort', () => void agent.notify(acp.methods.agent.session.cancel, { sessionId }).catch(() => undefined), {
      once: true,
    });
    const response = await agent.request(acp.methods.agent.session.prompt, {
      sessionId,
      prompt: contentOf(job, greeting.agentCapabilities),
    });
    // Notifications that arrived before the response may still be on their way through the SDK.
    await new Promise((resolve) => setImmediate(resolve));
    child.endInput();
    await leave(child);
    return endFor(response.stopReason);
  } finally {
    connection.close();
    child.endInput();
  }
}

/**
 * Some agents respond before they have replayed the whole session. The rest of the replay would be
 * taken for the answer.
 */
async function quiet(heardAt: () => number): Promise<void> {
  const began = performance.now();
  for (let now = began; now - Math.max(began, heardAt()) < QUIET_MS && now - began < REPLAY_MS_MAX; now = performance.now())
    await sleep(QUIET_MS / 4);
}

/** When its input closes, an agent saves its session and exits. One that does not is killed later. */
async function leave(child: Child): Promise<void> {
  const left = new AbortController();
  const late = sleep(LEAVE_MS, undefined, { signal: left.signal }).catch(() => undefined);
  await Promise.race([child.exit, late]);
  left.abort();
}

/** The event for the reason with which the agent stopped. */
function endFor(stopReason: acp.StopReason): RunEvent {
  switch (stopReason) {
    case 'end_turn':
      return { kind: 'done', stopReason };
    case 'refusal':
      return { kind: 'refused', reason: 'The agent refused to do this.' };
    case 'cancelled':
      return { kind: 'error', message: 'The agent was cancelled.' };
    case 'max_tokens':
      return { kind: 'error', message: 'The agent reached the limit of tokens of its model.' };
    case 'max_turn_requests':
      return { kind: 'error', message: 'The agent reached the limit of its requests to the model.' };
  }
}

/** JSON-RPC codes of the Agent Client Protocol. */
const AUTH_REQUIRED = -32_000;
/** How long to wait for the exit code after the connection broke, so that the error can name it. */
const EXIT_MS = 500;

/** Why the conversation failed: the agent's own error, or the way its process ended. */
async function failure(thrown: unknown, child: Child, program: string): Promise<RunEvent> {
  if (thrown instanceof acp.RequestError) {
    const login =
      thrown.code === AUTH_REQUIRED ? `${program} is not logged in. Start it once in a terminal and log in, or give it its key. ` : '';
    return { kind: 'error', message: `${login}${thrown.message}${detailIn(thrown.data)}` };
  }
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, EXIT_MS, undefined).unref());
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  const good = (): RunEvent => ({ kind: 'error', message: `${program} ended in the midst of the conversation (${words})` });
  return (await Promise.race([endOf(child, program, good), late])) ?? { kind: 'error', message: words };
}
