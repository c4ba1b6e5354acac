import type { StoredOutbox, StoredTaskRow } from '../../../src/engine/adapters/postgres/records.ts';

export interface SegmentRow {
  readonly first: number;
  readonly last: number;
  readonly words: string | null;
  readonly chunks: string | null;
}

export interface NameRow {
  readonly realm: number;
  readonly name: string;
  readonly task: number | null;
  readonly seq: number | null;
  readonly fingerprint: string;
  readonly at: number;
  readonly delivered: boolean;
  readonly answer: string | null;
}

export interface RealmRow {
  readonly realm: number;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
}

export interface PushTableRow {
  readonly task: number;
  readonly id: string;
  readonly n: number;
  readonly dialect: string;
  readonly after: number;
  readonly config: string;
  readonly sealed: string | null;
}

export interface CellRow {
  replica: number | undefined;
  epoch: number;
}

/** The row of a task with its cell. */
export type TaskTableRow = StoredTaskRow & { readonly cell: number };

/** The tables of the schema. What a crash of the server keeps. */
export class Tables {
  /** The end of each replica's lease, by the clock of the server. */
  readonly replicas: Map<number, number> = new Map();
  /** Replicas that are about to end. */
  readonly leaving: Set<number> = new Set();
  /** The replica of each writer. */
  readonly writers: Map<number, number> = new Map();
  readonly cells: CellRow[];
  readonly realms: Map<string, RealmRow> = new Map();
  readonly tasks: Map<number, TaskTableRow> = new Map();
  readonly ids: Map<string, number> = new Map();
  readonly segments: Map<number, SegmentRow[]> = new Map();
  /** Names of sends, by realm and name. */
  readonly sends: Map<string, NameRow> = new Map();
  /** The task of each alias, by realm and name. */
  readonly aliases: Map<string, number> = new Map();
  readonly pushes: Map<string, PushTableRow> = new Map();
  readonly outbox: Map<number, StoredOutbox> = new Map();
  readonly secrets: Map<string, string> = new Map();
  lastReplica = 0;
  lastWriter = 0;
  lastPush = 0;
  nextKey = 1;

  constructor(cells: number) {
    this.cells = Array.from({ length: cells }, () => ({ replica: undefined, epoch: 0 }));
  }

  /** Deletes a replica as the foreign keys do: its writers go, its cells are free. */
  deleteReplica(replica: number, cascades: boolean): void {
    this.replicas.delete(replica);
    if (cascades) for (const [writer, of] of this.writers) if (of === replica) this.writers.delete(writer);
    for (const cell of this.cells) if (cell.replica === replica) cell.replica = undefined;
  }
}

export const nameKey = (realm: number, name: string): string => `${realm} ${name}`;
export const pushKey = (task: number, id: string): string => `${task} ${id}`;
