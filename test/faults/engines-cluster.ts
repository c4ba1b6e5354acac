import type { Engine, EngineLimits } from '#engine';
import { createEngine, ElsewhereError } from '#engine';
import type { A2AService, Agent, CallContext, Logged, SendRequest, Seq, Task, TaskId, Turn } from '#protocol';
import { seq } from '#protocol';
import type { PostgresOptions, PostgresStore } from '../../src/engine/adapters/postgres.ts';
import { openPostgresStore } from '../../src/engine/adapters/postgres.ts';
import { agent, countingIds, ctx, said, taskOf } from '../support/engine.ts';

/** An engine with its own connection to the shared database. */
export interface EngineNode {
  readonly engine: Engine;
  readonly service: A2AService;
  readonly store: PostgresStore;
  readonly broken: unknown[];
  isOwn(cell: number): boolean;
}

export interface NodeOptions extends PostgresOptions {
  readonly limits?: Partial<EngineLimits>;
}

/** Runs of the scripted agent, as they began. */
export interface ScriptedRun {
  readonly node: string;
  readonly text: string;
  readonly turn: Turn;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** `count N`: N chunks. `ask`: a question, whose answer it repeats. Anything else is echoed. */
function scripted(node: string, runs: ScriptedRun[]): Agent {
  return agent(async function* (turn) {
    const text = turn.message.parts[0]?.text ?? '';
    runs.push({ node, text, turn });
    const chunks = Number(/^count (\d+)/.exec(text)?.[1] ?? 0);
    for (let n = 1; n <= chunks; n += 1) {
      await sleep(10);
      turn.signal.throwIfAborted();
      yield { kind: 'text', text: `${n} ` };
    }
    if (text === 'ask') yield { kind: 'artifact', parts: (await turn.ask(said('which?'))).parts };
    else yield { kind: 'text', text: `done ${text}` };
  });
}

let nodes = 0;

/** Opens the store and starts an engine over its share of the cells. */
export async function startNode(url: string, runs: ScriptedRun[], { limits = {}, ...options }: NodeOptions): Promise<EngineNode> {
  nodes += 1;
  const name = `n${nodes}`;
  const store = await openPostgresStore(url, { cells: 12, share: 'fair', ...options });
  const broken: unknown[] = [];
  const engine = createEngine({
    store,
    agents: { agent: scripted(name, runs) },
    ids: countingIds(name),
    limits,
    onBroken: (cause) => broken.push(cause),
  });
  await engine.start();
  return { engine, service: engine.serviceOf('agent'), store, broken, isOwn: (cell) => store.cells?.isOwn(cell) === true };
}

/** Lets runs end, gives the cells to the others, and leaves. */
export async function stopNode({ engine, store }: EngineNode, ms = 0): Promise<void> {
  await engine.stop({ ms });
  await store.close();
}

/** A caller who reaches any node. Like the server, it sends a call to the owner of its cell, and waits while there is none. */
export class Caller {
  /** How many calls were not answered where they came first. */
  forwards = 0;
  readonly #nodes: () => readonly EngineNode[];
  #turn = 0;

  constructor(nodes: () => readonly EngineNode[]) {
    this.#nodes = nodes;
  }

  /** `at`: the node that gets the call first. Default: one after the other. */
  async call<T>(use: (node: EngineNode, retryKey: string) => Promise<T>, at?: EngineNode): Promise<T> {
    const retryKey = crypto.randomUUID();
    let node = at ?? this.#next();
    for (;;) {
      try {
        return await use(node, retryKey);
      } catch (thrown) {
        if (!(thrown instanceof ElsewhereError)) throw thrown;
        this.forwards += 1;
        node = await this.#ownerOf(thrown.cell, node);
      }
    }
  }

  send(request: SendRequest, more: Partial<CallContext> = {}, at?: EngineNode): Promise<Task> {
    return this.call(async ({ service }, retryKey) => taskOf(await service.send(request, ctx({ retryKey, ...more }))), at);
  }

  /** All events of a task from the beginning, over as many nodes as it takes. */
  async follow(id: TaskId): Promise<readonly Logged[]> {
    const seen: Logged[] = [];
    await this.call(async ({ service }) => {
      const last: Seq = seen.at(-1)?.seq ?? seq(1);
      for await (const batch of service.subscribe({ id, after: last }, ctx()))
        for (const each of batch) if (seen.length === 0 || (each.seq ?? 0) > last) seen.push(each);
    });
    return seen;
  }

  #next(): EngineNode {
    const all = this.#nodes();
    this.#turn += 1;
    const node = all[this.#turn % all.length];
    if (node === undefined) throw new Error('there is no node');
    return node;
  }

  async #ownerOf(cell: number, before: EngineNode): Promise<EngineNode> {
    for (;;) {
      const found = this.#nodes().find((node) => (cell < 0 ? node !== before : node.isOwn(cell)));
      if (found !== undefined && found !== before) return found;
      await sleep(20);
      if (found !== undefined) return found;
    }
  }
}
