import type { PostgresDatabase } from './database.ts';
import { reading } from './errors.ts';
import type { LeaseClock } from './lease-watch.ts';
import type { SchemaName } from './schema.ts';

const TELL_MS = 60_000;
const ABANDONED_MS = 600_000;

/** Which agents the processes of a store have, and when one had them last. */
export class AgentSightings {
  readonly #database: PostgresDatabase;
  readonly #schema: SchemaName;
  readonly #clock: LeaseClock;
  #agents: readonly string[] = [];
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(database: PostgresDatabase, schema: SchemaName, clock: LeaseClock) {
    this.#database = database;
    this.#schema = schema;
    this.#clock = clock;
  }

  add(agents: readonly string[]): void {
    this.#agents = [...new Set([...this.#agents, ...agents])];
    this.#toldAt = Number.NEGATIVE_INFINITY;
  }

  /** Stores that this process has its agents, about once a minute. Never fails: the next call tries again. */
  async tell(): Promise<void> {
    const { ticks } = this.#clock.now();
    if (this.#agents.length === 0 || ticks - this.#toldAt < TELL_MS) return;
    this.#toldAt = ticks;
    const text = `INSERT INTO ${this.#schema}.agents (agent, seen) SELECT agent, clock_timestamp() FROM ${GIVEN} ORDER BY agent COLLATE "C"
      ON CONFLICT (agent) DO UPDATE SET seen = EXCLUDED.seen`;
    try {
      await this.#database.read({ name: 'agents-seen', text }, [JSON.stringify(this.#agents)]);
    } catch {
      this.#toldAt = Number.NEGATIVE_INFINITY;
    }
  }

  /** Of these agents, those that nobody has had for ten minutes. An agent that was never seen counts from the first question on. */
  async abandoned(agents: readonly string[]): Promise<readonly string[]> {
    await this.tell();
    const text = `WITH first AS (INSERT INTO ${this.#schema}.agents (agent, seen) SELECT agent, clock_timestamp() FROM ${GIVEN}
        ORDER BY agent COLLATE "C" ON CONFLICT (agent) DO NOTHING)
      SELECT agent FROM ${this.#schema}.agents WHERE agent IN (SELECT agent FROM ${GIVEN})
        AND seen < clock_timestamp() - $2::float8 * interval '1 ms'`;
    const values = [JSON.stringify(agents), ABANDONED_MS];
    const found = await reading(() => this.#database.read<{ agent: string }>({ name: 'agents-abandoned', text }, values));
    return found.map(({ agent }) => agent);
  }
}

const GIVEN = '(SELECT v AS agent FROM json_array_elements_text($1::json) AS v) AS given';
