import { keysOf, tableOf } from '#protocol';
/** One limit: its default, and what it means. Names end in their unit. */
export interface LimitDeclaration {
  readonly default: number;
  /** One or two sentences, for docs/config.md and docs/engine.md. */
  readonly doc: string;
}

/** The limits of the engine, each declared once: the type, the defaults, the settings of `parley serve` and the docs are derived from it. */
export const ENGINE_LIMITS = {
  taskEventsMax: { default: 200_000, doc: 'Maximum number of events of one task.' },
  taskBytesMax: { default: 268_435_456, doc: 'Maximum content of one task, messages and artifacts together.' },
  artifactBytesMax: { default: 67_108_864, doc: 'Maximum content of one artifact, all chunks together.' },
  spillBytes: { default: 1_048_576, doc: 'A part with more content than this is stored as a file of its own.' },
  pageBytesMax: {
    default: 8_388_608,
    doc: 'Maximum content of one page of a list. A page ends early, with a token for the next one, before a task that does not fit.',
  },
  runningTasksMax: {
    default: 1000,
    doc: 'Maximum number of turns that run at once. A run that waits for its caller does not count.',
  },
  queuedTasksMax: {
    default: 10_000,
    doc: 'Maximum number of turns that wait for a free slot. Beyond it a send is rejected with a time to retry.',
  },
  queuedMessagesMax: { default: 100, doc: 'Maximum number of messages of one task that wait for its current turn.' },
  pushConfigsMax: { default: 10, doc: 'Maximum number of webhooks of one task.' },
  ownerPushConfigsMax: {
    default: 1000,
    doc: 'Maximum number of webhooks of one principal that are in use: their task is unfinished, or events are still to be delivered.',
  },
  deliveriesMax: { default: 64, doc: 'Maximum number of concurrent deliveries to webhooks.' },
  hostDeliveriesMax: { default: 4, doc: 'Maximum number of concurrent deliveries to webhooks at one origin.' },
  webhookDisableMs: { default: 432_000_000, doc: 'A webhook that has failed for this long is disabled.' },
  openContextsMax: {
    default: 500,
    doc: 'Maximum number of conversations that agents keep open. Those in use are never closed.',
  },
  openContextMsMax: { default: 3_600_000, doc: 'How long an unused conversation is kept open.' },
  runMsMax: { default: 1_800_000, doc: 'Maximum duration of a run, without the time in which it waits for its caller.' },
  runIdleMsMax: { default: 300_000, doc: 'Maximum time of a run without output.' },
  runAskMsMax: {
    default: 86_400_000,
    doc: "A run that has waited this long for its caller is stopped. The caller's answer starts it again.",
  },
  runGraceMs: { default: 10_000, doc: 'A stopped run that has not ended after this long loses its slot to another.' },
  windowEvents: {
    default: 512,
    doc: 'Maximum number of events of one run that wait for a commit, beside those in the one under way. Then the run waits.',
  },
  windowBytes: {
    default: 262_144,
    doc: 'Maximum content of one run that waits for a commit, beside that in the one under way. Then the run waits.',
  },
  tailEvents: { default: 1024, doc: 'Number of newest events of a live task that are kept in memory for its readers.' },
  tailBytes: { default: 4_194_304, doc: 'Content of a live task that is kept in memory for its readers.' },
  firstOutputMs: {
    default: 250,
    doc: "How long a stream waits for the agent's first output before it announces a task. A direct message makes no task.",
  },
  pollMsMax: { default: 25_000, doc: 'How long a get that waits for news (long polling) waits.' },
  attemptsMax: {
    default: 3,
    doc: 'Maximum number of starts of one turn. A task fails if its process died that often while no other interrupted turn ran.',
  },
  retryMs: { default: 1000, doc: 'Delay before the second start of a turn. The third comes after four times this.' },
  finishedMsMax: { default: 2_592_000_000, doc: 'How long finished tasks are kept. In memory: an hour.' },
  finishedTasksMax: {
    default: 1_000_000,
    doc: 'Maximum number of finished tasks that are kept. The oldest are deleted first.',
  },
  waitingMsMax: { default: 2_592_000_000, doc: 'A task that has waited this long for its caller fails.' },
  sweepMs: { default: 300_000, doc: 'How often expired tasks are deleted.' },
  tickMs: { default: 1000, doc: 'How often the timeouts of runs are checked.' },
} as const;

/** The limits of the engine, by name. docs/config.md lists them with their defaults. */
export type EngineLimits = { readonly [Name in keyof typeof ENGINE_LIMITS]: number };

/** The defaults of all limits. */
export const DEFAULT_ENGINE_LIMITS: EngineLimits = limitDefaults(ENGINE_LIMITS);

/** The default of each declared limit. */
export function limitDefaults<Name extends string>(declared: Readonly<Record<Name, LimitDeclaration>>): { readonly [Key in Name]: number } {
  return tableOf(keysOf(declared), (name) => declared[name].default);
}
