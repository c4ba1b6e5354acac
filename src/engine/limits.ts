/** Everything has a limit. Names end in their unit; docs/engine.md lists them all. */
export interface EngineLimits {
  readonly taskEventsMax: number;
  readonly taskBytesMax: number;
  readonly artifactBytesMax: number;
  /** Content of a part above this goes to the blob port, if there is one. */
  readonly spillBytes: number;
  /** Turns that run at once, and turns that wait for their place. A run that waits for its caller holds no place. */
  readonly runningTasksMax: number;
  readonly queuedTasksMax: number;
  /** Messages that wait for the turn under way in one task. */
  readonly queuedMessagesMax: number;
  readonly pushConfigsMax: number;
  readonly openContextsMax: number;
  readonly openContextMsMax: number;
  readonly runMsMax: number;
  readonly runIdleMsMax: number;
  /** A run that waits this long for its caller is let go; the answer starts it again by its agent's recovery. */
  readonly runAskMsMax: number;
  /** A run that was stopped and has not ended after this loses its place to another. */
  readonly runGraceMs: number;
  /** What one run may have appended and not yet on disk before it waits. */
  readonly windowEvents: number;
  readonly windowBytes: number;
  /** What is kept at hand of a live task for its readers. */
  readonly tailEvents: number;
  readonly tailBytes: number;
  /** How long a stream waits for the agent's first word before it announces the task: a direct message makes none. */
  readonly firstOutputMs: number;
  /** How long a get that asks for news waits for them. */
  readonly pollMsMax: number;
  /** Starts of one turn. A task whose process died as often is given up. */
  readonly attemptsMax: number;
  /** Second start after this, third after four times this. */
  readonly retryMs: number;
  readonly finishedMsMax: number;
  readonly finishedTasksMax: number;
  /** A task that has waited this long for its caller fails. */
  readonly waitingMsMax: number;
  readonly sweepMs: number;
  /** How often timeouts are looked at. */
  readonly tickMs: number;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MIB = 1_048_576;

export const DEFAULT_ENGINE_LIMITS: EngineLimits = {
  taskEventsMax: 200_000,
  taskBytesMax: 256 * MIB,
  artifactBytesMax: 64 * MIB,
  spillBytes: MIB,
  runningTasksMax: 1000,
  queuedTasksMax: 10_000,
  queuedMessagesMax: 100,
  pushConfigsMax: 16,
  openContextsMax: 500,
  openContextMsMax: 60 * MINUTE,
  runMsMax: 30 * MINUTE,
  runIdleMsMax: 5 * MINUTE,
  runAskMsMax: DAY,
  runGraceMs: 10_000,
  windowEvents: 1024,
  windowBytes: MIB / 4,
  tailEvents: 1024,
  tailBytes: 4 * MIB,
  firstOutputMs: 250,
  pollMsMax: 25_000,
  attemptsMax: 3,
  retryMs: 1000,
  finishedMsMax: 30 * DAY,
  finishedTasksMax: 1_000_000,
  waitingMsMax: 30 * DAY,
  sweepMs: 5 * MINUTE,
  tickMs: 1000,
};
