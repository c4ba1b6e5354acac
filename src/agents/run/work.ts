import type { AgentOutput, Metadata, Turn } from '#protocol';
import { createDataPart, getTextFromMessage, SESSION_NOTE } from '#protocol';
import { artifact, complete, fail, reject, status } from '../outputs.ts';
import type { Child } from '../process/child.ts';
import type { Baseline } from '../workspace/git.ts';
import { baselineOf } from '../workspace/git.ts';
import type { Holder, Sessions } from '../workspace/sessions.ts';
import type { LateAnswer } from './approvals.ts';
import { settle } from './approvals.ts';
import type { Job } from './driver.ts';
import type { RunEvent } from './events.ts';
import { createPushQueue, lookAhead } from './flow.ts';
import type { Launching } from './launch.ts';
import { confinedRun, launch, untrusted } from './launch.ts';
import type { Telling } from './outputs.ts';
import { startTelling } from './outputs.ts';
import type { ApprovalPolicy } from './policy.ts';
import { allowsAll } from './policy.ts';
import { quietWords, startQuiet } from './quiet.ts';
import { redactor } from './redact.ts';
import type { RequestSettings } from './request.ts';
import type { RunTimer } from './watch.ts';
import { startWatch } from './watch.ts';

/** The settings of an agent that apply to all its runs. */
export interface RunSettings extends Launching {
  readonly sessions: Sessions;
  readonly policy: ApprovalPolicy;
  readonly approvalMs: number;
  readonly outputBytesMax: number;
  /** After this time without output of the program, the caller gets a notice. 0: never. */
  readonly quietMs: number;
}

/** The input of one run. */
export interface Work {
  readonly turn: Turn;
  readonly folder: string;
  /** Git's own folder for the working folder, if it is elsewhere. */
  readonly writable: readonly string[];
  readonly settings: RequestSettings;
  readonly late: LateAnswer | undefined;
  readonly session: string | undefined;
  readonly holder: Holder;
}

/** Maximum number of events that are read ahead while a question waits for its answer. */
const AHEAD = 64;

/** One run, from start to end. When it returns, none of its processes is left. */
export async function* work(bench: RunSettings, task: Work): AsyncGenerator<AgentOutput> {
  const { turn, folder, settings } = task;
  const refusal = untrusted(bench, folder);
  if (refusal !== undefined) {
    yield reject(refusal);
    return;
  }
  const baseline = bench.driver.edits ? await baselineOf(folder, confinedRun(bench, task.writable)) : undefined;
  const watch = startWatch(turn.signal, settings);
  const children = new Set<Child>();
  watch.signal.addEventListener('abort', () => setTimeout(() => void endAll(children), bench.driver.cancelMs ?? 0), { once: true });
  try {
    // The record of this run is on disk before its program starts (docs/faults.md, E3).
    await turn.durable();
    yield* follow(bench, task, { watch, children, baseline, hasSession: task.session !== undefined });
  } catch (thrown) {
    if (watch.why === undefined) throw thrown;
    yield fail(watch.why);
  } finally {
    watch.stop();
    await endAll(children);
    await baseline?.close();
  }
}

interface Following {
  readonly watch: RunTimer;
  readonly children: Set<Child>;
  readonly baseline: Baseline | undefined;
  /** The run continues a session, or its program has reported one that it can resume. */
  hasSession: boolean;
}

/** Reads the driver's events until its result, and answers permission requests on the way. */
async function* follow(bench: RunSettings, task: Work, following: Following): AsyncGenerator<AgentOutput> {
  const { turn, folder, late } = task;
  const { watch, children, baseline } = following;
  const { driver, policy, approvalMs } = bench;
  const telling = startTelling({ adapter: driver.name, suffix: suffixFor(turn), outputBytesMax: bench.outputBytesMax });
  const redact = redactor(bench.env, driver.environment);
  const granted = new Set(late?.isAllowed === true ? [late.fingerprint] : []);
  for await (const event of eventsOf(bench, task, following)) {
    if (event.kind === 'approval') {
      yield* telling.flush();
      watch.pause();
      const { note } = await settle(turn, event.approval, { policy, folder, approvalMs, granted });
      watch.touch();
      if (note !== undefined) yield status(note, { event: 'approval' });
    } else if (event.kind === 'done' || event.kind === 'refused' || event.kind === 'error') {
      if (watch.why !== undefined) break; // we ended it
      await endAll(children);
      yield* ending(event, { telling, baseline, redact });
      return;
    } else {
      const told = telling.tell(redacted(event, redact));
      yield* event.kind === 'init' && following.hasSession ? told.map((output) => withSession(output, driver.name)) : told;
    }
  }
  yield* telling.flush();
  yield fail(watch.why ?? 'The agent ended without a result.');
}

/** The driver's events, and at most one notice of ours if there are none for too long. */
async function* eventsOf(bench: RunSettings, task: Work, following: Following): AsyncGenerator<RunEvent> {
  const { driver, quietMs: afterMs, sandbox, network } = bench;
  const { watch, children } = following;
  const flow = createPushQueue<RunEvent>();
  const hasNetwork = network || sandbox.level !== 'bubblewrap';
  let ours: RunEvent | undefined;
  const quiet = startQuiet(afterMs, () => {
    ours = { kind: 'note', text: quietWords({ driver, afterMs, hasNetwork, children }) };
    flow.push(ours);
  });
  try {
    for await (const event of lookAhead(driver.run(jobFor(bench, task, following)), { max: AHEAD, flow, leave: () => endAll(children) })) {
      if (event !== ours) {
        watch.touch(); // our own notice does not count as output
        quiet.heard(event);
      }
      yield event;
      if (event.kind === 'approval') quiet.resume();
    }
  } finally {
    quiet.stop();
  }
}

/** The run as its driver sees it. */
function jobFor(bench: RunSettings, { turn, folder, writable, settings, late, session, holder }: Work, following: Following): Job {
  const { driver, policy, sessions, isTrusted } = bench;
  const { watch, children } = following;
  return {
    ...{ message: turn.message, folder, settings, session, isTrusted, signal: watch.signal },
    prompt: late === undefined ? getTextFromMessage(turn.message) : afterRestart(late),
    isPermissive: policy.otherwise === 'allow' && (policy.rules ?? []).length === 0,
    mayEdit: allowsAll(policy, 'edit'),
    start: (argv, env) => {
      watch.signal.throwIfAborted();
      const child = launch(bench, { folder, writable }, { argv, ...(env === undefined ? {} : { env }) });
      children.add(child);
      return child;
    },
    keepSession: async (id, isResumable) => {
      await sessions.set(holder, { id, folder, adapter: driver.name, isResumable });
      following.hasSession = isResumable;
    },
  };
}

/** Notes the session in the task: a node that does not have the session knows that there is one. */
function withSession(output: AgentOutput, adapter: string): AgentOutput {
  return output.kind === 'status' ? { ...output, metadata: { ...output.metadata, ...sessionNote(adapter) } } : output;
}

/** Metadata of a task that has a session of this adapter. */
export function sessionNote(adapter: string): Metadata {
  return { [SESSION_NOTE]: { adapter } };
}

async function endAll(children: ReadonlySet<Child>): Promise<void> {
  await Promise.all([...children].map((child) => child.kill()));
}

interface Ending {
  readonly telling: Telling;
  readonly baseline: Baseline | undefined;
  readonly redact: (text: string) => string;
}

/** All artifacts come before the final status, after which no stream shows them. */
async function* ending(
  event: Extract<RunEvent, { readonly kind: 'done' | 'refused' | 'error' }>,
  { telling, baseline, redact }: Ending,
): AsyncGenerator<AgentOutput> {
  yield* telling.flush();
  for (const { path, change, patch } of (await baseline?.changes().catch(() => [])) ?? []) {
    yield artifact({
      id: `file:${path}`,
      name: path,
      description: `${path} was ${change}`,
      parts: [
        { text: patch, mediaType: 'text/x-diff', filename: `${path}.diff` },
        createDataPart({ type: 'file_change', path, change, diff: patch }),
      ],
    });
  }
  if (event.kind === 'error') yield fail(redact(event.message));
  else if (event.kind === 'refused') yield reject(redact(event.reason));
  else {
    yield* telling.result(event);
    yield complete();
  }
}

function redacted<Event extends RunEvent>(event: Event, redact: (text: string) => string): Event {
  if ('text' in event) return { ...event, text: redact(event.text) };
  return 'output' in event && typeof event.output === 'string' ? { ...event, output: redact(event.output) } : event;
}

/** A task with earlier turns already has artifacts of these names. */
function suffixFor({ task }: Turn): string {
  const before = (task.artifacts ?? []).filter(({ name }) => name === 'agent-metadata' || name === 'assistant-response').length;
  return before === 0 ? '' : `-${before + 1}`;
}

/**
 * The process that asked has ended, and so has its question. The agent's session remembers the work.
 */
function afterRestart({ title, isAllowed }: LateAnswer): string {
  return isAllowed === true
    ? `You were interrupted while you waited for permission: ${title}. It is granted. Go on where you stopped.`
    : `You were interrupted while you waited for permission: ${title}. It is denied. Do not do it; continue without it, or say why you can not.`;
}
