import type { StoreCells } from '../../cells.ts';
import type { StoreLease } from '../../lease.ts';
import { CellOwner } from './cell-owner.ts';
import type { CellWriting } from './cell-owner-options.ts';
import type { PostgresDatabase } from './database.ts';
import type { ReplicaOptions } from './replica.ts';
import { joinReplicas } from './replica.ts';
import type { SchemaName } from './schema.ts';
import type { WriterReplica } from './writer.ts';

/** This process in its store: the only writer, or one of several. */
export interface StoreMember {
  readonly replica: WriterReplica;
  /** Of the only writer. */
  readonly lease?: StoreLease;
  /** Of one of several. */
  readonly cells?: StoreCells;
  /** Takes cells, once this process can write. */
  begin(): Promise<void>;
  /** The cells that it owns. */
  owned(): readonly number[];
  /** Gives the cells back and ends the lease. */
  leave(): Promise<void>;
}

interface MemberOptions extends ReplicaOptions {
  /** Number of cells of the store. */
  readonly count: number;
  readonly share: 'all' | 'fair' | number;
  readonly writing: CellWriting;
  readonly onDrops: () => void;
  readonly onRejoin: () => void;
  readonly onTakeover: ((cells: number) => void) | undefined;
}

/** Joins the other processes of the store. */
export async function joinStore(database: PostgresDatabase, s: SchemaName, { share, ...options }: MemberOptions): Promise<StoreMember> {
  if (share === 'all') return joinAsOnly(database, s, options);
  const owner = new CellOwner(database, s, { ...options, share });
  return {
    replica: {
      get id() {
        return owner.id;
      },
      gone: async (id) => owner.gone(id),
      missing: (cells) => owner.missing(cells),
    },
    cells: owner,
    begin: () => owner.join(),
    owned: () => owner.own(),
    leave: () => owner.leave(),
  };
}

async function joinAsOnly(database: PostgresDatabase, s: SchemaName, options: ReplicaOptions): Promise<StoreMember> {
  const replica = await joinReplicas(database, s, options);
  return {
    replica: {
      get id() {
        return replica.id;
      },
      gone: () => replica.rejoin(),
      missing: () => {},
    },
    lease: replica.lease,
    begin: async () => {},
    owned: () => replica.cells,
    leave: () => replica.leave(),
  };
}
