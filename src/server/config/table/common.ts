/** The settings that most nodes use. */
export const COMMON_SETTINGS = {
  agents: {
    type: 'agents',
    default: ['demo'],
    alsoEnv: ['AGENT_ADAPTER'],
    doc: 'The agents to serve: built-in names, coding CLIs, files, and in a `.ts` file what `defineAgent` returns. The first is the root agent. On the command line they are arguments.',
  },
  port: {
    type: 'number',
    max: 65_535,
    default: 41_242,
    flag: 'port',
    alsoEnv: ['PORT'],
    doc: 'The port to listen on. 0 picks a free one.',
  },
  host: {
    type: 'text',
    default: '127.0.0.1',
    flag: 'host',
    placeholder: 'ADDRESS',
    doc: 'The address to listen on. An address that others can reach needs authentication, and TLS or a proxy that provides it.',
  },
  data: {
    type: 'text',
    flag: 'data',
    placeholder: 'DIR',
    doc: 'The folder for tasks. Default: one for this project, where the platform keeps application data; the start line names it.',
  },
  store: {
    type: 'text',
    flag: 'store',
    placeholder: 'URL',
    doc: 'A Postgres database for tasks, as `postgres://USER@HOST/NAME`. A URL with a password belongs into the environment. Default: SQLite in the data folder.',
  },
  storeLeaseMs: {
    type: 'number',
    min: 1000,
    max: 600_000,
    default: 10_000,
    flag: 'store-lease-ms',
    doc: 'How long a node may own the tasks in a Postgres database without renewing its lease. After a crash the next node takes over after at most this long.',
  },
  advertise: {
    type: 'text',
    flag: 'advertise',
    placeholder: 'HOST[:PORT]',
    doc: 'Where other nodes on the same Postgres database reach this one, to forward requests to it. Default: a free port of 127.0.0.1, for nodes on one machine.',
  },
  memory: { type: 'boolean', flag: 'memory', doc: 'Keep tasks in memory only.' },
  acceptLoss: {
    type: 'boolean',
    flag: 'accept-loss',
    doc: 'Start although the newest commits of the store are missing, and continue without them. Only for a start that an error has refused.',
  },
  log: {
    type: 'choice',
    oneOf: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    flag: 'log',
    reload: 'live',
    doc: 'The least important level to log. Logs go to standard error: text on a terminal, JSON lines elsewhere and with `--json`.',
  },
} as const;
