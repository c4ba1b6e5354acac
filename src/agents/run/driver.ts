import type { Message } from '#protocol';
import type { Child } from '../process/child.ts';
import type { Environment } from '../process/environment.ts';
import type { RunEvent } from './events.ts';
import type { RequestSettings } from './request.ts';

/** One run of a coding agent, as its driver sees it. */
export interface Job {
  readonly message: Message;
  /** The words of the message, or what stands in their place after a restart. */
  readonly prompt: string;
  /** Absolute, with links resolved. */
  readonly folder: string;
  readonly settings: RequestSettings;
  /** The agent's own session to go on with. A driver that finds it lost begins another, and says so in `init`. */
  readonly session: string | undefined;
  /** Everything is allowed: the operator said so. */
  readonly isPermissive: boolean;
  /** Files may be edited without asking, wherever they are. */
  readonly mayEdit: boolean;
  /** The folder's own configuration of the agent is obeyed. */
  readonly isTrusted: boolean;
  readonly signal: AbortSignal;
  /** Starts a program in the folder, confined, with the environment that this agent is allowed. */
  start(argv: readonly string[], env?: Environment): Child;
  /** The agent has said in which session it is, and whether it can come back to it. */
  keepSession(id: string, isResumable: boolean): Promise<void>;
}

/** What knows how one kind of agent is started, what it says and how it is answered. */
export interface Driver {
  /** As in `AGENT_ADAPTER`, and on the card. */
  readonly name: string;
  /** Its conversations can outlive its process. */
  readonly resumes: boolean;
  /** It changes files, and its caller is to see which. */
  readonly edits: boolean;
  /** Names of environment variables that it needs, besides those that every program does; `ANTHROPIC_*` stands for many. */
  readonly environment: readonly string[];
  /** What it keeps in the home folder, relative to that. */
  readonly homePaths: readonly string[];
  /** Files of a project by which the project could make it run something: hidden unless the project is trusted. */
  readonly projectConfig: readonly string[];
  /** It has options of its own by which it ignores `projectConfig`. */
  readonly ignoresProject?: boolean;
  /** It works by a model somewhere else, so that its silence may mean that it can't reach that. */
  readonly model?: true;
  /** When it is stopped, it ends by itself within this time; then it is ended. */
  readonly cancelMs?: number;
  run(job: Job): AsyncIterable<RunEvent>;
}
