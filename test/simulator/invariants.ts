/** The invariants, by the name that the checker reports. docs/replicas-invariants.md explains each. */
export const INVARIANTS = {
  'log-whole': 'The entries of a log are 1, 2, 3 … without gaps or repeats, and nothing follows a terminal entry.',
  'durable-before-shown': 'What an answer, an event, a webhook or a get shows was durable before, and stays so.',
  'burial-is-final': 'After the burial of a replica, no write of its writers becomes visible.',
  'one-owner': 'A cell is taken only from nobody, and only its owner writes to it.',
  'cells-shared':
    'When the faults are over, every cell has a live owner, and every live replica owns cells, unless the others need theirs for work that continues.',
  'one-hop': 'A call is forwarded at most once, and its task belongs to the caller whom the entry has authenticated.',
  'one-name-one-task':
    'The name of a send has one task for ever, and that task exists. The name of a task has one task at a time: the next one follows when it has ended, in the same conversation.',
  'one-run-writes':
    'Once a later run of a turn has written, no earlier run of it writes. A restart has its attempt on disk. A `fail` agent never starts twice.',
  'one-verdict': 'The verdict of a commit of unknown outcome is true, and stays true.',
  'no-act-without-lease': '`durable()` returns only after a fenced round trip, and runs end once the lease is lost.',
  'stream-once-in-order': 'A stream over any number of takeovers shows each sequence number once, rising by one.',
  'nobody-forgotten':
    'When the faults are over, every task gets a run, waits for its caller, or has ended. A seed ends: 200,000 steps, or a thread without memory, are a failure.',
  'webhook-place': 'The place of a webhook never moves back, and every event is delivered at least once.',
  'ids-never-reused': 'No task key, replica id or writer id is used twice. A lapsed lease is not renewed.',
  'read-your-write': 'After an acknowledgement every read shows what was acknowledged, or something newer.',
} as const;

export type InvariantName = keyof typeof INVARIANTS;

/** An invariant that did not hold. */
export interface Violation {
  readonly invariant: InvariantName;
  readonly what: string;
}

/** Remembers the first violation, and counts how often each invariant had something to check. */
export class Findings {
  violation: Violation | undefined;
  readonly checks: Map<InvariantName, number> = new Map();

  /** Counts a check, and reports a violation if it fails. */
  check(invariant: InvariantName, holds: boolean, what: () => string): void {
    this.checks.set(invariant, (this.checks.get(invariant) ?? 0) + 1);
    if (!holds) this.violation ??= { invariant, what: what() };
  }
}
