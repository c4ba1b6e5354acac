import { randomBytes } from 'node:crypto';
import type { A2AService } from '#protocol';
import { DEFAULT_SERVER_LIMITS } from '#server';
import type { ReplicaRow } from '../../src/engine/adapters/postgres.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { createDeliveryReports } from '../../src/server/adapters/replicas/delivery-reports.ts';
import { createElsewhere } from '../../src/server/adapters/replicas/elsewhere.ts';
import { createForwarder } from '../../src/server/adapters/replicas/forward.ts';
import { createLinks } from '../../src/server/adapters/replicas/link-client.ts';
import { openLinkHost } from '../../src/server/adapters/replicas/link-host.ts';
import { makeLinkKeys } from '../../src/server/adapters/replicas/link-keys.ts';
import { routeCalls } from '../../src/server/adapters/replicas/routed.ts';
import { createSendChannels } from '../../src/server/adapters/replicas/send-channel.ts';
import type { ServedAgent } from '../../src/server/agents/served-agent.ts';
import { SILENT } from '../../src/server/observability/log.ts';
import { builtIn, startServer } from './server.ts';
import { serviceElsewhere } from './services-elsewhere.ts';

const SECRET = randomBytes(32);
/** What `closeReplicas` has to close. */
export const closing: (() => void | Promise<void>)[] = [];

export async function closeReplicas(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}

export interface Replica {
  readonly server: NodeServer;
  readonly row: ReplicaRow;
  /** What it serves. */
  readonly service: A2AService;
}

interface ReplicaOptions {
  /** What it serves instead of an engine of its own. */
  readonly given?: A2AService;
  /** How long a request waits for an owner of its cell. */
  readonly holdMs?: number;
}

/** A node among others. `cell`: where its calls belong. Undefined: here. */
export async function replica(
  id: number,
  rows: () => readonly ReplicaRow[],
  cell: () => number | undefined = () => undefined,
  { given, holdMs = 10_000 }: ReplicaOptions = {},
): Promise<Replica> {
  const keys = makeLinkKeys();
  const own = await startServer();
  closing.push(() => own.close());
  const [agent] = own.handler.agents;
  if (agent === undefined) throw new Error('the node has no agent');
  const links = createLinks({ secret: SECRET, keys, silentMsMax: 5000 });
  closing.push(() => links.close());
  const another = (at: number): ReplicaRow | undefined =>
    rows().find(({ owned, publicKey }) => (at === -1 ? publicKey !== keys.publicKey : owned.includes(at)));
  const reports = createDeliveryReports(links);
  const routing = {
    ...{ ownership: { owner: another, refresh: async () => {} }, links, reports, sends: createSendChannels(links, reports) },
    ...{ onForwarded: () => {}, want: async () => {}, holdMs },
  };
  const forwarder = createForwarder({ ...routing, limits: DEFAULT_SERVER_LIMITS, leaving: new AbortController().signal });
  const service = given ?? serviceElsewhere(agent, cell);
  const served: ServedAgent = { name: agent.name, card: builtIn('script').card, service: routeCalls(service, agent.name, routing) };
  const server = await startServer({ agents: [served], elsewhere: createElsewhere(forwarder, DEFAULT_SERVER_LIMITS) });
  closing.push(() => server.close());
  const isAlive = async (publicKey: string): Promise<boolean> => rows().some((row) => row.publicKey === publicKey);
  const link = await openLinkHost({
    ...{ figures: () => '{}', give: async () => false, erase: async () => {} },
    serviceOf: (asked) => (asked === agent.name ? service : undefined),
    ...{ host: '127.0.0.1', port: 0, secret: SECRET, publicKey: keys.publicKey, members: () => ({ isAlive }) },
    ...{ limits: DEFAULT_SERVER_LIMITS, log: SILENT },
  });
  closing.push(() => link.close());
  link.serve(server.handler);
  const address = { link: `127.0.0.1:${link.port}`, publicKey: keys.publicKey };
  return {
    server,
    service,
    row: { ...address, replica: id, url: server.url, started: '', leaseMs: 9000, cells: 1, owned: [id] },
  };
}

/** Two nodes: the calls of the first belong to the second. */
export async function replicaPair(): Promise<{ readonly entry: Replica; readonly owner: Replica; readonly rows: ReplicaRow[] }> {
  const rows: ReplicaRow[] = [];
  const owner = await replica(2, () => rows);
  const entry = await replica(
    1,
    () => rows,
    () => 2,
  );
  rows.push(entry.row, owner.row);
  return { entry, owner, rows };
}
