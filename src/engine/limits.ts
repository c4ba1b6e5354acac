/** Everything has a limit. Names end in their unit; docs/config.md lists them all. */
export interface EngineLimits {
  readonly taskEventsMax: number;
  readonly taskBytesMax: number;
  readonly artifactBytesMax: number;
  /** Artifact content above this goes to the blob port. */
  readonly spillBytes: number;
  readonly runningTasksMax: number;
  readonly queuedTasksMax: number;
  readonly openContextsMax: number;
  readonly openContextMsMax: number;
  readonly runMsMax: number;
  readonly runIdleMsMax: number;
  /** Events of one run that may wait for their commit before the run waits. */
  readonly windowEvents: number;
  /** Newest events of a live task that are kept at hand for readers. */
  readonly tailEvents: number;
  /** How long an answer waits for the agent's first word before the task itself is announced. */
  readonly firstOutputMs: number;
  readonly attemptsMax: number;
  readonly finishedMsMax: number;
  readonly finishedTasksMax: number;
  readonly sweepMs: number;
}

export const DEFAULT_ENGINE_LIMITS: EngineLimits = {
  taskEventsMax: 200_000,
  taskBytesMax: 256 * 1_048_576,
  artifactBytesMax: 64 * 1_048_576,
  spillBytes: 1_048_576,
  runningTasksMax: 1000,
  queuedTasksMax: 10_000,
  openContextsMax: 500,
  openContextMsMax: 3_600_000,
  runMsMax: 30 * 60_000,
  runIdleMsMax: 5 * 60_000,
  windowEvents: 1024,
  tailEvents: 1024,
  firstOutputMs: 250,
  attemptsMax: 3,
  finishedMsMax: 30 * 24 * 3_600_000,
  finishedTasksMax: 1_000_000,
  sweepMs: 300_000,
};
