import { join } from 'node:path';
import type { Agent, AgentOutput, Turn } from '#protocol';
import { isA2AError, isObject, linkSignals, SESSION_NOTE } from '#protocol';
import { ask, fail, reject, status } from '../outputs.ts';
import type { Environment } from '../process/environment.ts';
import { openLedger } from '../process/ledger.ts';
import type { Folders } from '../workspace/folders.ts';
import { folderFor, isInside } from '../workspace/folders.ts';
import type { Worktree } from '../workspace/git.ts';
import { gitFolders, makeWorktree } from '../workspace/git.ts';
import type { Places } from '../workspace/places.ts';
import { createPlaces } from '../workspace/places.ts';
import type { Sandbox } from '../workspace/sandbox.ts';
import type { Holder, Session } from '../workspace/sessions.ts';
import { openSessions } from '../workspace/sessions.ts';
import type { LateAnswer } from './approvals.ts';
import { lateAnswerIn } from './approvals.ts';
import type { Driver } from './driver.ts';
import { createPushQueue } from './flow.ts';
import { confinedRun } from './launch.ts';
import type { ApprovalPolicy } from './policy.ts';
import type { OpenQuestions } from './questions.ts';
import { createOpenQuestions } from './questions.ts';
import type { RequestSettings } from './request.ts';
import { settingsIn } from './request.ts';
import type { RunSettings } from './work.ts';
import { sessionNote, work } from './work.ts';

/** `RunOptions` with all defaults filled in. */
export interface RunnerOptions {
  /** Starts the program and reads its events. */
  readonly driver: Driver;
  /** The folders in which callers may let the agent work. */
  readonly folders: Folders;
  /** The folder for sessions, worktrees and records of runs. One folder per agent. */
  readonly state: string;
  /** How the program is confined. */
  readonly sandbox: Sandbox;
  /** Our environment, from which the driver's variables are taken. */
  readonly env: Environment;
  /** Which requests for permission are allowed, denied or passed on to the caller. */
  readonly policy: ApprovalPolicy;
  /** How long a request waits for the caller's answer, in milliseconds. */
  readonly approvalMs: number;
  /** Maximum number of runs at the same time. Others wait. */
  readonly concurrency: number;
  /** Whether the program may use the settings of the project in its folder. */
  readonly isTrusted: boolean;
  /** Maximum size of the text of a run, in bytes. */
  readonly outputBytesMax: number;
  /** Silence in milliseconds after which the runner sends the caller one note. 0: never. */
  readonly quietMs: number;
  /** Whether the program may use the network. */
  readonly network: boolean;
  /** Default for requests that choose none. */
  readonly defaults: RequestSettings;
}

/** The parts of an `Agent` that a runner provides. */
export type Runner = Pick<Agent, 'run' | 'open'> & Required<Pick<Agent, 'keepsWaiting' | 'forget'>>;

/** Shared by all agents that start programs: folders, queue, sessions, shutdown. */
export function createRunner(options: RunnerOptions): Runner {
  const ledger = openLedger(join(options.state, 'runs'));
  const sessions = openSessions(join(options.state, 'sessions'));
  const runner: Running = {
    ...{ ...options, ledger, sessions, places: createPlaces(options.concurrency), questions: createOpenQuestions() },
    // Programs that an earlier server left running are killed before another one starts. A failure of this is ignored.
    reaped: ledger.reap().catch(() => 0),
  };
  return {
    run: (turn) => run(runner, turn),
    keepsWaiting: async (holder) => (await sessions.get(holder))?.isResumable === true,
    forget: (holder) => sessions.delete(holder),
    // An open conversation keeps its cell, and so its session, on this node while several nodes share a database.
    ...(options.driver.resumes ? { open: () => Promise.resolve(undefined) } : {}),
  };
}

interface Running extends RunnerOptions, RunSettings {
  readonly places: Places;
  readonly questions: OpenQuestions;
  readonly reaped: Promise<number>;
}

/** Prepares the folder and the session, then runs the driver. */
async function* run(runner: Running, turn: Turn): AsyncGenerator<AgentOutput> {
  const prepared = await prepare(runner, turn);
  if ('kind' in prepared) {
    yield prepared;
    return;
  }
  const { settings, late } = prepared;
  const holder = { contextId: turn.contextId, principal: turn.principal.id };
  const session = await usableSession(runner, holder);
  if (late !== undefined && session === undefined) {
    yield fail('The server was stopped while the agent waited for an answer, and its session can’t be resumed. Send the request again.');
    return;
  }
  if (await isElsewhere(runner, turn, holder)) {
    // The next message of the conversation has to know it, too.
    yield { kind: 'status', metadata: sessionNote(runner.driver.name) };
    yield fail(ELSEWHERE);
    return;
  }
  await runner.reaped;
  let { folder } = prepared;
  let writable: readonly string[] = [];
  if (settings.worktree === true) {
    const made = await worktreeFor(runner, folder, turn);
    if (made === undefined) {
      yield reject('metadata.worktree: the folder is not a git repository with a commit, or git is not installed');
      return;
    }
    folder = made.path;
    writable = [made.common];
    yield status(`Working in a git worktree of its own, on branch ${made.branch}.`, {
      event: 'worktree',
      branch: made.branch,
      path: made.path,
    });
  }
  if (settings.worktree !== true && runner.driver.edits) writable = await writableGit(runner, folder);
  const place = yield* waitForPlace(runner, { folder, turn, holder });
  if (place === undefined) return;
  try {
    yield* work(runner, {
      turn: runner.questions.watch(holder, turn),
      folder,
      settings,
      late,
      session: sessionFor(session, folder),
      holder,
      writable,
    });
  } finally {
    place();
  }
}

interface Prepared {
  readonly settings: RequestSettings;
  readonly folder: string;
  readonly late: LateAnswer | undefined;
}

/** Checks the settings and the folder of a turn. Returns the rejection if they are not allowed. */
async function prepare({ defaults, folders }: Running, turn: Turn): Promise<Prepared | AgentOutput> {
  try {
    const settings = { ...defaults, ...settingsIn(turn) };
    const folder = await folderFor(folders, settings.cwd);
    const late = lateAnswerIn(turn);
    if (late !== undefined && late.isAllowed === undefined) return ask(late.question.parts);
    return { settings, folder, late };
  } catch (thrown) {
    if (isA2AError(thrown)) return reject(thrown.message);
    throw thrown;
  }
}

async function usableSession({ sessions, driver }: Running, holder: Holder): Promise<Session | undefined> {
  const session = await sessions.get(holder);
  return session?.adapter === driver.name && session.isResumable ? session : undefined;
}

const ELSEWHERE =
  'The session of this conversation is on another node, or was deleted, so the agent does not know the earlier messages. Start that node again, or begin a new conversation.';

/** Whether the conversation has a session that this node does not have: it was taken over from another node. */
async function isElsewhere({ sessions, driver }: Running, turn: Turn, holder: Holder): Promise<boolean> {
  if (!driver.resumes || (await sessions.get(holder)) !== undefined) return false;
  const noted = turn.task.metadata?.[SESSION_NOTE] ?? (await turn.before())?.metadata?.[SESSION_NOTE];
  return isObject(noted) && noted['adapter'] === driver.name;
}

interface Arriving {
  readonly folder: string;
  readonly turn: Turn;
  readonly holder: Holder;
}

/**
 * Waits for a free slot, and reports the position in the queue to the caller each time it changes.
 * Undefined: the turn was rejected, because another task of this conversation holds the folder and
 * waits for an answer. The caller would not answer it while they wait for this task.
 */
async function* waitForPlace(
  { places, questions }: Running,
  { folder, turn, holder }: Arriving,
): AsyncGenerator<AgentOutput, (() => void) | undefined> {
  const waits = createPushQueue<number>();
  const refused = new AbortController();
  const waiting = linkSignals([turn.signal, refused.signal]);
  let isWaiting = false;
  const check = (): void => {
    if (isWaiting && questions.in(holder) !== undefined) refused.abort();
  };
  const forget = questions.onOpen(holder, check);
  const onWait = (ahead: number): void => {
    isWaiting = true;
    waits.push(ahead);
    check();
  };
  const taken = places.take({ folder, signal: waiting.signal, onWait });
  taken.then(
    () => waits.end(),
    (thrown: unknown) => waits.end(thrown),
  );
  try {
    for await (const ahead of waits) {
      const words = ahead === 0 ? 'Waiting for a place; next in line.' : `Waiting for a place; ${ahead} ahead.`;
      yield status(words, { event: 'queued', queuePosition: ahead + 1 });
    }
    return await taken;
  } catch (thrown) {
    const asking = questions.in(holder);
    if (turn.signal.aborted || asking === undefined) throw thrown;
    yield reject(`Task ${asking} of this conversation waits for an answer. Answer or cancel that task first.`);
    return undefined;
  } finally {
    forget();
    waiting.release();
  }
}

/** Named after the task, so that a later message to it finds it. */
async function worktreeFor(runner: Running, folder: string, { task }: Turn): Promise<Worktree | undefined> {
  return await makeWorktree(folder, task.id, { run: confinedRun(runner), parent: join(runner.state, 'worktrees') }).catch(() => undefined);
}

/**
 * A commit in a subfolder writes to the repository's own folder, so that is writable too, within the
 * allowed roots.
 */
async function writableGit(runner: Running, folder: string): Promise<readonly string[]> {
  const roots = runner.folders.roots ?? [runner.folders.home];
  return (await gitFolders(folder, confinedRun(runner))).filter((path) => roots.some((root) => isInside(path, root)));
}

/**
 * Agents keep sessions per folder. In another folder a session would not be found, or would be about
 * other files.
 */
function sessionFor(session: Session | undefined, folder: string): string | undefined {
  return session?.folder === folder ? session.id : undefined;
}
