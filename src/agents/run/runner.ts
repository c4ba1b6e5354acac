import { join } from 'node:path';
import type { Agent, AgentOutput, Turn } from '#protocol';
import { isA2AError } from '#protocol';
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
import type { RequestSettings } from './request.ts';
import { settingsIn } from './request.ts';
import type { RunSettings } from './work.ts';
import { work } from './work.ts';

export interface RunnerOptions {
  readonly driver: Driver;
  readonly folders: Folders;
  /** The folder for sessions, worktrees and records of runs. One folder per agent. */
  readonly state: string;
  readonly sandbox: Sandbox;
  /** Our environment, from which the driver's variables are taken. */
  readonly env: Environment;
  readonly policy: ApprovalPolicy;
  readonly approvalMs: number;
  readonly concurrency: number;
  readonly isTrusted: boolean;
  readonly outputBytesMax: number;
  readonly quietMs: number;
  readonly network: boolean;
  /** Default for requests that choose none. */
  readonly defaults: RequestSettings;
}

export type Runner = Pick<Agent, 'run'> & Required<Pick<Agent, 'keepsWaiting'>>;

/** Shared by all agents that start programs: folders, queue, sessions, shutdown. */
export function createRunner(options: RunnerOptions): Runner {
  const ledger = openLedger(join(options.state, 'runs'));
  const sessions = openSessions(join(options.state, 'sessions'));
  const runner: Running = {
    ...{ ...options, ledger, sessions, places: createPlaces(options.concurrency) },
    // Programs that an earlier server left running are killed before another one starts. A failure of this is ignored.
    reaped: ledger.reap().catch(() => 0),
  };
  return {
    run: (turn) => run(runner, turn),
    keepsWaiting: async (holder) => (await sessions.get(holder))?.isResumable === true,
  };
}

interface Running extends RunnerOptions, RunSettings {
  readonly places: Places;
  readonly reaped: Promise<number>;
}

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
    yield fail('The server stopped while this waited for an answer, and the session can not be taken up again.');
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
  const place = yield* waitForPlace(runner.places, folder, turn);
  try {
    yield* work(runner, { turn, folder, settings, late, session: sessionFor(session, folder), holder, writable });
  } finally {
    place();
  }
}

interface Prepared {
  readonly settings: RequestSettings;
  readonly folder: string;
  readonly late: LateAnswer | undefined;
}

/** Or the refusal. */
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

/** Reports the position in the queue to the caller, each time it changes. */
async function* waitForPlace(places: Places, folder: string, { signal }: Turn): AsyncGenerator<AgentOutput, () => void> {
  const waits = createPushQueue<number>();
  const taken = places.take({ folder, signal, onWait: (ahead) => waits.push(ahead) });
  taken.then(
    () => waits.end(),
    (thrown: unknown) => waits.end(thrown),
  );
  for await (const ahead of waits) {
    const words = ahead === 0 ? 'Waiting for a place; next in line.' : `Waiting for a place; ${ahead} ahead.`;
    yield status(words, { event: 'queued', queuePosition: ahead + 1 });
  }
  return await taken;
}

/** Named after the task, so that a later message to it finds it. */
async function worktreeFor(runner: Running, folder: string, { task }: Turn): Promise<Worktree | undefined> {
  return await makeWorktree(folder, task.id, { run: confinedRun(runner), parent: join(runner.state, 'worktrees') }).catch(() => undefined);
}

/** A commit in a subfolder writes to the repository's own folder, so that is writable too, within the allowed roots. */
async function writableGit(runner: Running, folder: string): Promise<readonly string[]> {
  const roots = runner.folders.roots ?? [runner.folders.home];
  return (await gitFolders(folder, confinedRun(runner))).filter((path) => roots.some((root) => isInside(path, root)));
}

/** Agents keep sessions per folder. In another folder a session would not be found, or would be about other files. */
function sessionFor(session: Session | undefined, folder: string): string | undefined {
  return session?.folder === folder ? session.id : undefined;
}
