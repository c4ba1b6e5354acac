import type { Message } from '#protocol';
import type { Child } from '../process/child.ts';
import type { Environment } from '../process/environment.ts';
import type { RunEvent } from './events.ts';
import type { RequestSettings } from './request.ts';

/** One run of a coding agent, as its driver sees it. */
export interface Job {
  readonly message: Message;
  /** The text of the message, or its replacement after a restart. */
  readonly prompt: string;
  /** Absolute, with links resolved. */
  readonly folder: string;
  readonly settings: RequestSettings;
  /**
   * The agent's own session to continue. A driver that finds it lost starts another and reports that in
   * `init`.
   */
  readonly session: string | undefined;
  /** The operator allows everything. */
  readonly isPermissive: boolean;
  /** Files may be edited anywhere without asking. */
  readonly mayEdit: boolean;
  /** The agent uses the configuration in the folder. */
  readonly isTrusted: boolean;
  readonly signal: AbortSignal;
  /** Starts a program in the folder, sandboxed, with the environment that this agent may have. */
  start(argv: readonly string[], env?: Environment): Child;
  /** Reports the agent's session, and whether the agent can resume it. */
  keepSession(id: string, isResumable: boolean): Promise<void>;
}

/** Starts one kind of agent, reads its output and answers it. */
export interface Driver {
  /** Its name in `AGENT_ADAPTER` and on the card. */
  readonly name: string;
  /** Its sessions can be resumed by another process. */
  readonly resumes: boolean;
  /** It changes files, which the caller should see. */
  readonly edits: boolean;
  /**
   * Environment variables that it needs, besides those that every program gets. `ANTHROPIC_*` matches
   * all with that prefix.
   */
  readonly environment: readonly string[];
  /** Its files in the home folder, relative to it. */
  readonly homePaths: readonly string[];
  /**
   * Files of a project that could make it run programs. They are hidden unless the project is trusted.
   */
  readonly projectConfig: readonly string[];
  /** It has options that make it ignore `projectConfig`. */
  readonly ignoresProject?: boolean;
  /** It uses a remote model, so silence may mean that the model is unreachable. */
  readonly model?: true;
  /** How long it may take to end when it is stopped; then it is killed. */
  readonly cancelMs?: number;
  /** Runs the agent once and yields its events. The last one is `done`, `refused` or `error`. */
  run(job: Job): AsyncIterable<RunEvent>;
}
