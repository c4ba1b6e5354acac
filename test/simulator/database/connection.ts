import type { PostgresConnection, PostgresDatabase, Sql } from '../../../src/engine/adapters/postgres.ts';
import type { Actor, Scheduler } from '../scheduler.ts';
import { WORLD } from '../scheduler.ts';
import { ConnectionLost, ServerError } from './errors.ts';
import type { SimulatedServer, Statement, StatementReply } from './server.ts';

/** What happens to one commit on its way. `late`: it arrives after the process has noticed that the connection is gone. */
export type CommitFault = 'refused' | 'lost before' | 'answer lost' | 'late';

/** The way between one process and the server. */
export interface Line {
  readonly actor: Actor;
  /** The number of the process. */
  readonly process: number;
  /** Nothing gets through until this time. */
  cutUntil: number;
  /** For the next commit. */
  nextFault: CommitFault | undefined;
  /** Called for each commit that is sent. */
  readonly onCommit: (n: number) => void;
}

interface Wires {
  readonly scheduler: Scheduler;
  readonly server: SimulatedServer;
  /** Open connections, which a restart of the server ends. */
  readonly open: Set<SimulatedConnection>;
  /** Counts statements. */
  readonly count: { statements: number };
}

/** A type check that always holds: the statement's name decides the columns of its rows. */
function areRows<R extends object>(rows: readonly object[]): rows is readonly R[] {
  return rows.length >= 0;
}

/** The port of the Postgres adapter, over the simulated network. */
export function simulatedDatabase(wires: Wires, line: Line): PostgresDatabase {
  const { scheduler } = wires;
  const connect = async (): Promise<SimulatedConnection> => {
    await scheduler.sleep(line.actor, latency(wires) + latency(wires), 'connect');
    if (line.cutUntil > scheduler.now) {
      await scheduler.sleep(line.actor, scheduler.random.whole(20, 300), 'no connection');
      throw new ConnectionLost();
    }
    return new SimulatedConnection(wires, line);
  };
  return {
    connect,
    read: async <R extends object>(sql: Sql, values: readonly unknown[] = []) => {
      const connection = new SimulatedConnection(wires, line);
      try {
        return await connection.query<R>(sql, values);
      } finally {
        connection.cut();
      }
    },
    close: async () => {},
  };
}

function latency({ scheduler: { random } }: Wires): number {
  return random.chance(0.02) ? random.whole(5, 60) : 0.1 + random.next();
}

export class SimulatedConnection implements PostgresConnection {
  readonly #wires: Wires;
  readonly #line: Line;
  readonly #pending = new Set<(cause: Error) => void>();
  #isOpen = true;

  constructor(wires: Wires, line: Line) {
    this.#wires = wires;
    this.#line = line;
    wires.open.add(this);
  }

  async query<R extends object>({ name, text }: Sql, values: readonly unknown[] = []): Promise<readonly R[]> {
    const { count } = this.#wires;
    count.statements += 1;
    const statement: Statement = { n: count.statements, process: this.#line.process, name, text, values };
    const isCommit = name.startsWith('commit-');
    if (isCommit) this.#line.onCommit(statement.n);
    if (!this.#isOpen) throw new ConnectionLost();
    const rows = await new Promise<readonly object[]>((resolve, reject) => {
      this.#pending.add(reject);
      this.#send(statement, isCommit ? this.#takeFault() : undefined, (reply) => {
        this.#pending.delete(reject);
        if ('rows' in reply) resolve(reply.rows);
        else reject(reply.error);
      });
    });
    if (!areRows<R>(rows)) throw new Error('these are no rows');
    return rows;
  }

  async run(): Promise<void> {
    await this.#wires.scheduler.sleep(this.#line.actor, latency(this.#wires), 'session');
    if (!this.#isOpen || this.#line.cutUntil > this.#wires.scheduler.now) throw new ConnectionLost();
  }

  async end(): Promise<void> {
    this.cut();
  }

  cut(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#wires.open.delete(this);
    for (const reject of this.#pending) reject(new ConnectionLost());
  }

  /** The server or the network has ended it. The process notices a little later. */
  breaks(): void {
    this.#wires.scheduler.later(this.#line.actor, latency(this.#wires), 'connection ended', () => this.cut());
  }

  #takeFault(): CommitFault | undefined {
    const fault = this.#line.nextFault;
    this.#line.nextFault = undefined;
    return fault;
  }

  #send(statement: Statement, fault: CommitFault | undefined, resolve: (reply: StatementReply) => void): void {
    const { scheduler, server } = this.#wires;
    const { random } = scheduler;
    const isCut = this.#line.cutUntil > scheduler.now;
    const fate = isCut ? random.pick<CommitFault>(['lost before', 'answer lost', 'late']) : fault;
    const answer = (reply: StatementReply): void => {
      // A connection that is cut meanwhile delivers no answer.
      if (this.#line.cutUntil <= scheduler.now)
        scheduler.later(this.#line.actor, latency(this.#wires), `answer ${statement.name}`, () => resolve(reply));
      else this.breaks();
    };
    const arrive = (ms: number, onReply: (reply: StatementReply) => void): void =>
      void scheduler.later(WORLD, ms, `arrives ${statement.n} ${statement.name}`, () => server.execute(statement, onReply));
    if (fate === undefined) arrive(latency(this.#wires), answer);
    else if (fate === 'refused') answer({ error: new ServerError('53100', 'the disk of the server is full') });
    else {
      scheduler.later(this.#line.actor, random.whole(1, isCut ? 300 : 40), `lost ${fate}`, () => this.cut());
      if (fate === 'answer lost') arrive(latency(this.#wires), () => {});
      if (fate === 'late') arrive(random.whole(30, 4000), () => {});
    }
  }
}
