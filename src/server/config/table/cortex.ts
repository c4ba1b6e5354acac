/**
 * The block `a2a` as CortexPrism's documents show it, with its constants (docs/dialects.md). Most keys
 * are other names for Parley's own settings.
 */
export const CORTEX_SETTINGS = {
  'a2a.enabled': {
    type: 'boolean',
    default: true,
    isFileOnly: true,
    doc: 'If false, `parley serve` refuses to start.',
  },
  'a2a.server.port': { type: 'number', max: 65_535, sameAs: 'port', doc: 'The same as `port`.' },
  'a2a.server.bindAddress': { type: 'text', sameAs: 'host', doc: 'The same as `host`.' },
  'a2a.server.allowedOrigins': { type: 'list', sameAs: 'allowedOrigins', doc: 'The same as `allowedOrigins`.' },
  'a2a.remoteAgents': {
    type: 'remotes',
    isFileOnly: true,
    doc: 'Agents elsewhere. Their names work wherever a URL does. Members: `endpoint`, `agentCardUrl`, `authToken`, `timeout` in milliseconds.',
  },
  'a2a.MAX_TASKS': {
    type: 'number',
    sameAs: 'limits.runningTasksMax',
    alsoEnv: ['MAX_TASKS'],
    doc: 'The same as `limits.runningTasksMax`.',
  },
  'a2a.MAX_CONTEXTS': {
    type: 'number',
    sameAs: 'limits.openContextsMax',
    alsoEnv: ['MAX_CONTEXTS'],
    doc: 'The same as `limits.openContextsMax`.',
  },
  'a2a.TASK_TTL_MS': {
    type: 'number',
    sameAs: 'limits.finishedMsMax',
    alsoEnv: ['TASK_TTL_MS'],
    doc: 'The same as `limits.finishedMsMax`.',
  },
  'a2a.IDLE_CLEANUP_INTERVAL_MS': {
    type: 'number',
    sameAs: 'limits.sweepMs',
    alsoEnv: ['IDLE_CLEANUP_INTERVAL_MS'],
    doc: 'The same as `limits.sweepMs`.',
  },
} as const;
