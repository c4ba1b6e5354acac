import type { MetricOptions } from './metrics.ts';

/** One metric of a node. The table in docs/metrics.md is made of these. */
export interface MetricDeclaration extends MetricOptions {
  /** As Prometheus knows it. */
  readonly type: 'counter' | 'gauge' | 'histogram';
}

/** Every metric of a node. Names follow Prometheus' rules: base units, and `_total` for counters only. */
export const METRICS = {
  requests: {
    name: 'parley_http_requests_total',
    type: 'counter',
    labels: ['route', 'status'],
    help: 'HTTP requests by route and status.',
  },
  calls: {
    name: 'parley_calls_total',
    type: 'counter',
    labels: ['agent', 'dialect', 'operation', 'outcome'],
    help: 'Calls of A2A operations. The outcome is ok, the kind of the error, or TASK_FAILED or TASK_REJECTED for the end of the task that was sent to.',
  },
  callSeconds: {
    name: 'parley_call_seconds',
    type: 'histogram',
    labels: ['agent', 'operation'],
    help: 'Duration of a call; of a stream, until its end.',
  },
  callerErrors: {
    name: 'parley_caller_errors_total',
    type: 'counter',
    labels: ['caller', 'outcome'],
    help: 'Calls that did not end well, by caller. The first 100 such callers have a label of their own, the others are counted as other.',
  },
  callsRefused: {
    name: 'parley_calls_refused_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Calls refused because the node or the caller is at a limit.',
  },
  runSeconds: {
    name: 'parley_run_seconds',
    type: 'histogram',
    labels: ['agent', 'state'],
    help: 'Duration of a run of an agent, without the time that it waited for answers, by the state of the task at its end.',
  },
  tasksFinished: {
    name: 'parley_tasks_finished_total',
    type: 'counter',
    labels: ['agent', 'state'],
    help: 'Tasks that have ended: completed, failed, canceled or rejected.',
  },
  tasksRunning: { name: 'parley_tasks_running', type: 'gauge', help: 'Running turns.' },
  tasksQueued: { name: 'parley_tasks_queued', type: 'gauge', help: 'Turns in the queue.' },
  tasksAsking: {
    name: 'parley_tasks_asking',
    type: 'gauge',
    labels: ['agent', 'state'],
    help: 'Tasks that wait for a person: input_required for an answer, auth_required for a credential.',
  },
  tasksLive: { name: 'parley_tasks_live', type: 'gauge', help: 'Tasks held in memory.' },
  tasksForgotten: {
    name: 'parley_tasks_forgotten_total',
    type: 'counter',
    help: 'Finished tasks deleted after their retention time.',
  },
  contextsOpen: { name: 'parley_contexts_open', type: 'gauge', help: 'Contexts that agents keep open.' },
  streamsOpen: { name: 'parley_streams_open', type: 'gauge', help: 'Open streams.' },
  streamsCut: {
    name: 'parley_streams_cut_total',
    type: 'counter',
    help: 'Streams and other responses closed because the client did not read them.',
  },
  connectionsDropped: {
    name: 'parley_connections_dropped_total',
    type: 'counter',
    help: 'Connections refused because of a connection limit.',
  },
  unsentBytes: { name: 'parley_unsent_bytes', type: 'gauge', help: 'Content that slow readers have not taken yet.' },
  commits: { name: 'parley_commits_total', type: 'counter', help: 'Commits to the store.' },
  events: { name: 'parley_events_total', type: 'counter', help: 'Events appended to the logs of tasks.' },
  commitWrites: { name: 'parley_commit_writes', type: 'histogram', help: 'Writes per commit.' },
  commitSeconds: { name: 'parley_commit_seconds', type: 'histogram', help: 'Duration of a commit.' },
  storeStalled: {
    name: 'parley_store_stalled',
    type: 'gauge',
    help: '1 while the store can not write, for example because the disk is full. It is tried again every second.',
  },
  storeStalls: { name: 'parley_store_stalls_total', type: 'counter', help: 'How often the store could not write.' },
  storeBroken: { name: 'parley_store_broken', type: 'gauge', help: '1 after the store has failed for good. The process ends then.' },
  storeBytes: { name: 'parley_store_bytes', type: 'gauge', help: 'Size of the store files.' },
  storeFreeBytes: {
    name: 'parley_store_free_bytes',
    type: 'gauge',
    help: 'Free space on the file system of the store that this process may use.',
  },
  backups: {
    name: 'parley_backups_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Scheduled backups: ok or failed.',
  },
  backupLastSuccess: {
    name: 'parley_backup_last_success_timestamp_seconds',
    type: 'gauge',
    help: 'When the newest complete backup of the schedule was begun, as a Unix time; 0 if there is none. Absent without a schedule.',
  },
  backupInterval: {
    name: 'parley_backup_interval_seconds',
    type: 'gauge',
    help: 'The configured time between two backups. Absent without a schedule.',
  },
  brokerConnected: {
    name: 'parley_broker_connected',
    type: 'gauge',
    labels: ['broker'],
    help: '1 while the message broker is connected.',
  },
  issuerReachable: {
    name: 'parley_issuer_reachable',
    type: 'gauge',
    labels: ['issuer'],
    help: '1 if the last fetch of the keys of the token issuer was successful.',
  },
  issuerFetches: {
    name: 'parley_issuer_fetches_total',
    type: 'counter',
    labels: ['issuer', 'outcome'],
    help: 'Fetches of the keys of the token issuer: ok or failed.',
  },
  keysReadable: {
    name: 'parley_api_keys_readable',
    type: 'gauge',
    help: '0 while the file of API keys can not be read. The keys that were read last stay valid.',
  },
  webhookAttempts: {
    name: 'parley_webhook_attempts_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Attempts to deliver to webhooks: delivered, failed, refused or gone.',
  },
  webhookSeconds: { name: 'parley_webhook_seconds', type: 'histogram', help: 'Duration of a delivery attempt.' },
  webhooksPending: { name: 'parley_webhooks_pending', type: 'gauge', help: 'Webhook queues that are not empty.' },
  webhookOldestSeconds: {
    name: 'parley_webhook_oldest_seconds',
    type: 'gauge',
    help: 'Age of the oldest event that is not delivered yet; 0 if everything is delivered.',
  },
  webhooksSending: { name: 'parley_webhooks_sending', type: 'gauge', help: 'Deliveries in progress.' },
  webhookHostsTripped: {
    name: 'parley_webhook_hosts_tripped',
    type: 'gauge',
    help: 'Hosts that get no deliveries for a while, after too many failures.',
  },
  webhookLetters: { name: 'parley_webhook_letters_total', type: 'counter', help: 'Deliveries that failed for good.' },
  replicaCells: {
    name: 'parley_replica_cells',
    type: 'gauge',
    help: 'Of several nodes on one database: how many cells of the tasks this one owns.',
  },
  replicaLease: {
    name: 'parley_replica_lease_seconds',
    type: 'gauge',
    help: 'How long the lease of this node in the database is still valid. It is renewed about every third of it.',
  },
  replicaForwards: {
    name: 'parley_replica_forwards_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Requests that another node was to answer: ok, repeated (by the next owner), left (the caller), no_owner, or unknown (not repeated).',
  },
  replicaTakeovers: {
    name: 'parley_replica_takeovers_total',
    type: 'counter',
    help: 'How often this node has taken over cells of a node that was stopped, was killed or lost its lease.',
  },
  workerUp: {
    name: 'parley_worker_up',
    type: 'gauge',
    labels: ['worker'],
    help: 'With --workers: 1 for each worker that has reported its metrics, and 0 for one that has not.',
  },
  eventLoopDelay: {
    name: 'parley_event_loop_delay_seconds',
    type: 'gauge',
    labels: ['percentile'],
    help: 'How late timers fire, since the last scrape.',
  },
  logLinesLost: {
    name: 'parley_log_lines_lost_total',
    type: 'counter',
    help: 'Log lines that could not be written to standard error, because its reader has ended or the disk is full.',
  },
  residentMemory: { name: 'process_resident_memory_bytes', type: 'gauge', help: 'Resident memory.' },
  heapUsed: { name: 'process_heap_used_bytes', type: 'gauge', help: 'Heap in use.' },
} as const;

/** The same as a list, for documentation and checks. */
export const METRIC_LIST: readonly MetricDeclaration[] = Object.values(METRICS);
