import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtInAgents } from '#agents';
import { joinMesh, meshView, monitorMesh } from '#mesh';
import { createLog } from '#server';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import { serve } from '../../src/server/adapters/node.ts';
import { startMosquitto } from '../../test/support/brokers.ts';
import { eventually } from '../../test/support/eventually.ts';
import { freePort } from '../../test/support/free-port.ts';
import { startPostgres } from '../../test/support/postgres.ts';

/** A node, and how to stop it with all that it needs. */
export interface Place {
  readonly url: string;
  stop(): Promise<void>;
}

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const NODES = 3;

/** Three processes on one Postgres. Resolves when each owns cells. */
export async function startReplicas(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-postgres-'));
  const postgres = await startPostgres(folder);
  const ports = await Promise.all(Array.from({ length: NODES }, () => freePort()));
  const children: ChildProcess[] = [];
  const start = (port: number): void => {
    const args = ['serve', 'script', '--store', postgres.url, '--data', join(folder, String(port)), '--port', String(port)];
    const node = ['--conditions=our-src', '--disable-warning=ExperimentalWarning', CLI, ...args];
    children.push(spawn(process.execPath, node, { stdio: 'ignore', env: { ...process.env, HOME: folder, PARLEY_LOG: 'silent' } }));
  };
  const cellsAt = async (port: number): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return Number(/^parley_replica_cells (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  for (const port of ports) start(port);
  await eventually(async () => {
    for (const port of ports) if ((await cellsAt(port)) < 40) throw new Error('the cells are not divided yet');
  });
  await talk(ports);
  return {
    url: `http://127.0.0.1:${ports[0]}`,
    stop: async () => {
      for (const child of children) child.kill('SIGKILL');
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Conversations through every node, so that nodes forward requests. */
async function talk(ports: readonly number[]): Promise<void> {
  for (let at = 0; at < 24; at += 1) {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', contextId: `talk-${at % 8}`, parts: [{ text: `message ${at}` }] };
    await fetch(`http://127.0.0.1:${ports[at % ports.length]}/agents/script/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message }),
    });
  }
}

const TEAMS = ['billing', 'orders', 'refunds', 'search', 'stock', 'travel', 'payroll', 'support', 'legal', 'press'];
const ROLES = ['triage', 'writer', 'critic', 'archive', 'planner'];

/** A node on a broker with fifty other agents. */
export async function startMesh(): Promise<Place> {
  const broker = await startMosquitto();
  const namespace = 'acme/agents';
  const connect = () => connectMqtt({ url: broker.url, sessionSeconds: 0 });
  const monitor = monitorMesh({ namespace, connect });
  const own = monitor.observe(await connect());
  const mesh = joinMesh({ broker: own, namespace, instance: 'here' });
  const registry = await mesh.discover();
  const caller = await mesh.call({ kind: 'gateway', id: 'node_here' });
  const at = { broker: own, registry, caller, monitor, address: broker.url, namespace, counts: mesh.counts, instance: 'here' };
  const echo = builtInAgents.get('echo')?.create();
  if (echo === undefined) throw new Error('the echo agent is missing');
  const options = {
    port: 0,
    console: createConsole(),
    otel: false as const,
    log: createLog({ write: () => {} }),
    replyPublisher: mesh.replyPublisher,
    mesh: meshView({ ...at, announceMs: 10_000 }),
  };
  const server = await serve([echo], options);
  const [served] = server.handler.agents;
  if (served === undefined) throw new Error('the node has no agent');
  await mesh.serve(served);
  const others = joinMesh({ broker: await connect(), namespace, instance: 'others' });
  for (const name of TEAMS.flatMap((team) => ROLES.map((role) => `${team}-${role}`))) {
    await others.serve({ name, card: { ...served.card, name, description: `Works for ${name.split('-')[0]}.` }, service: served.service });
  }
  return {
    url: server.url,
    stop: async () => {
      await others.close();
      await server.close();
      await monitor.close();
      await mesh.close();
      await broker.stop();
    },
  };
}
