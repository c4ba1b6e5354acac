/** Everything has a limit. Names end in their unit; docs/engine.md is made from this list. */
export interface EngineLimits {
  /** Entries in the log of one task. */
  readonly taskEventsMax: number;
  /** Content of one task: messages and artifacts. */
  readonly taskBytesMax: number;
  /** Content of one artifact, all its chunks together. */
  readonly artifactBytesMax: number;
  /** Content of a part above this goes to the blob port, if there is one. */
  readonly spillBytes: number;
  /** Turns that run at once. A run that waits for its caller is not counted. */
  readonly runningTasksMax: number;
  /** Turns that wait for a place. Beyond that a send is refused with word when to come back. */
  readonly queuedTasksMax: number;
  /** Messages of one task that wait for the turn under way. */
  readonly queuedMessagesMax: number;
  /** Push notification configs of one task. */
  readonly pushConfigsMax: number;
  /** Push notification configs of one principal whose tasks are not finished, or not all of whose events have arrived. */
  readonly ownerPushConfigsMax: number;
  /** Deliveries to webhooks that are under way at once. */
  readonly deliveriesMax: number;
  /** The same to one origin. */
  readonly hostDeliveriesMax: number;
  /** A webhook that has taken nothing for this long hears nothing more. */
  readonly webhookDisableMs: number;
  /** Conversations that are kept open; those in use are never closed. */
  readonly openContextsMax: number;
  /** An unused conversation is kept open this long. */
  readonly openContextMsMax: number;
  /** How long a run may take, without the time in which it waits for its caller. */
  readonly runMsMax: number;
  /** How long a run may say nothing. */
  readonly runIdleMsMax: number;
  /** A run that waits this long for its caller is let go; the answer starts it again by its agent's recovery. */
  readonly runAskMsMax: number;
  /** A run that was stopped, or is done, and has not ended after this holds nobody up any longer. */
  readonly runGraceMs: number;
  /** Events of one run that may wait for the disk before the run does. */
  readonly windowEvents: number;
  /** The same in content. */
  readonly windowBytes: number;
  /** Newest events of a live task that are kept at hand for its readers. */
  readonly tailEvents: number;
  /** The same in content. */
  readonly tailBytes: number;
  /** How long a stream waits for the agent's first word before it announces a task: a direct message makes none. */
  readonly firstOutputMs: number;
  /** How long a get that asks for news waits for them. */
  readonly pollMsMax: number;
  /** Starts of one turn. A task whose process died as often is given up. */
  readonly attemptsMax: number;
  /** Wait before the second start of a turn; before the third it is four times this. */
  readonly retryMs: number;
  /** Finished tasks are kept this long. */
  readonly finishedMsMax: number;
  /** So many finished tasks are kept; the oldest go first. */
  readonly finishedTasksMax: number;
  /** A task that has waited this long for its caller fails. */
  readonly waitingMsMax: number;
  /** How often what is old is looked for. */
  readonly sweepMs: number;
  /** How often the deadlines of runs are looked at. */
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
  pushConfigsMax: 10,
  ownerPushConfigsMax: 1000,
  deliveriesMax: 64,
  hostDeliveriesMax: 4,
  webhookDisableMs: 5 * DAY,
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
