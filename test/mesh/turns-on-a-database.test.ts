import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { builtInAgents } from '#agents';
import { createEngine } from '#engine';
import type { Broker } from '#mesh';
import { joinMesh } from '#mesh';
import { contextId } from '#protocol';
import { cellOf } from '../../src/engine/adapters/postgres/cells.ts';
import { openPostgresStore } from '../../src/engine/adapters/postgres.ts';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { connectNats } from '../../src/mesh/adapters/nats.ts';
import { agentTurns } from '../../src/server/adapters/replicas/agent-turns.ts';
import { programOf, startMosquitto, startNats } from '../support/brokers.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { NODE_NAMESPACE, onStop, start, stopAll } from './nodes.ts';

afterEach(stopAll);

const CELLS = 128;
const [folder, data] = [postgresFolder(), scratchFolder()];
let postgres: PostgresServer;
let databases = 0;

/** A client of the broker that is no program of ours, and counts the answers to each of its requests. */
interface Desk {
  ask(name: string): Promise<void>;
  answers(name: string): number;
}

interface Kind {
  readonly name: string;
  readonly args: readonly string[];
  readonly keepsRequests: boolean;
  startBroker(): ReturnType<typeof startMosquitto>;
  connect(url: string): Promise<Broker>;
  openDesk(broker: Broker): Promise<Desk>;
}

const bytesOf = (body: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(body));
const counted = (heard: Map<string, number>, name: string): void => void heard.set(name, (heard.get(name) ?? 0) + 1);

/** As a gateway of Solace Agent Mesh asks. Each request has a conversation of its own, so that all cells are used. */
async function samDesk(broker: Broker): Promise<Desk> {
  const base = `${NODE_NAMESPACE}/a2a/v1`;
  const heard = new Map<string, number>();
  await broker.subscribe({ filter: `${base}/gateway/response/#`, handle: ({ topic }) => counted(heard, topic.split('/').at(-1) ?? '') });
  return {
    answers: (name) => heard.get(name) ?? 0,
    ask: async (name) => {
      const parts = [{ kind: 'text', text: 'chunks=1' }];
      const message = { kind: 'message', role: 'user', messageId: `m ${name}`, contextId: `of ${name}`, parts };
      const properties = { clientId: 'desk', userId: 'ann', replyTo: `${base}/gateway/response/desk/${name}` };
      const payload = bytesOf({ jsonrpc: '2.0', id: name, method: 'message/send', params: { message } });
      await broker.publish({ topic: `${base}/agent/request/script`, payload, properties });
    },
  };
}

async function mqttDesk(broker: Broker): Promise<Desk> {
  const replyTo = `$a2a/v1/reply/${NODE_NAMESPACE}/desk/7`;
  const heard = new Map<string, number>();
  await broker.subscribe({ filter: replyTo, handle: ({ correlation }) => counted(heard, new TextDecoder().decode(correlation)) });
  return {
    answers: (name) => heard.get(name) ?? 0,
    ask: async (name) => {
      const message = { messageId: `m ${name}`, role: 'ROLE_USER', taskId: crypto.randomUUID(), contextId: `of ${name}` };
      const params = { message: { ...message, parts: [{ text: 'chunks=1' }] } };
      const payload = bytesOf({ jsonrpc: '2.0', id: name, method: 'SendMessage', params });
      const correlation = new TextEncoder().encode(name);
      await broker.publish({ topic: `$a2a/v1/request/${NODE_NAMESPACE}/script`, payload, responseTopic: replyTo, correlation });
    },
  };
}

const mosquitto = { keepsRequests: true, startBroker: startMosquitto, connect: (url: string) => connectMqtt({ url, sessionSeconds: 0 }) };
const KINDS: readonly Kind[] = [
  { ...mosquitto, name: 'SAM’s grammar on Mosquitto', args: [], openDesk: samDesk },
  { ...mosquitto, name: 'A2A over MQTT on Mosquitto', args: ['--mesh-grammar', 'mqtt01'], openDesk: mqttDesk },
  {
    ...{ name: 'SAM’s grammar on NATS', args: [], keepsRequests: false, startBroker: startNats, openDesk: samDesk },
    connect: (url) => connectNats({ servers: url }),
  },
];

async function freshDatabase(): Promise<string> {
  databases += 1;
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`CREATE DATABASE turns_${databases}`).finally(() => client.end());
  return postgres.url.replace(/postgres$/, `turns_${databases}`);
}

async function deskOn(kind: Kind, url: string): Promise<Desk> {
  const broker = await kind.connect(url);
  onStop(() => broker.close());
  return kind.openDesk(broker);
}

/** The cells of one process. */
interface Owned {
  readonly url: string;
  readonly cells: readonly number[];
}

let requests = 0;
const names = (): readonly string[] =>
  Array.from({ length: 12 }, () => {
    requests += 1;
    return `request-${requests}`;
  });

async function expectAnswers(desk: Desk, asked: readonly string[]): Promise<void> {
  for (const name of asked) await eventually(() => expect(desk.answers(name), name).toBeGreaterThan(0));
}

/** A broker that keeps nothing loses requests that nobody receives, so its callers repeat them. */
async function expectAnswersToRepeats(desk: Desk, asked: readonly string[]): Promise<void> {
  for (const name of asked)
    await eventually(async () => {
      if (desk.answers(name) === 0) await desk.ask(name);
      expect(desk.answers(name), name).toBeGreaterThan(0);
    });
}

/** A second answer would come before the answers to what is asked later. */
async function expectOneAnswerEach(desk: Desk, asked: readonly string[]): Promise<void> {
  await expectAnswers(desk, asked);
  const last = names();
  for (const name of last) await desk.ask(name);
  await expectAnswers(desk, last);
  expect([...asked, ...last].map((name) => [name, desk.answers(name)])).toEqual([...asked, ...last].map((name) => [name, 1]));
}

async function askAll(desk: Desk): Promise<readonly string[]> {
  const asked = names();
  for (const name of asked) await desk.ask(name);
  return asked;
}

async function threeNodes({ args }: Kind, broker: string, store: string): Promise<readonly Parley[]> {
  const nodes: Parley[] = [];
  for (const at of ['a', 'b', 'c']) {
    const own = ['--data', join(data, `${databases}-${at}`), '--port', String(await freePort())];
    nodes.push(await start(broker, ['script'], { args: [...own, '--store', store, '--store-lease-ms', '2000', ...args] }));
  }
  return nodes;
}

suiteNeeding('postgresql', hasPostgres, 'three nodes on one database and a broker', () => {
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());

  /** Waits until each of the processes has its share of the cells, so that none moves any more. Returns the cells by the address of the process. */
  async function settledCells(store: string, processes: number): Promise<readonly Owned[]> {
    const client = new pg.Client({ connectionString: store });
    await client.connect();
    try {
      let found: readonly Owned[] = [];
      await eventually(async () => {
        const text =
          'SELECT r.url, array_agg(c.cell) AS cells FROM parley.cells c JOIN parley.replicas r USING (replica) GROUP BY r.replica';
        found = (await client.query<Owned>(text)).rows;
        const counts = found.map(({ cells }) => cells.length);
        expect(counts).toHaveLength(processes);
        expect(Math.max(...counts)).toBeLessThanOrEqual(Math.ceil(CELLS / processes));
        expect(counts.reduce((sum, count) => sum + count)).toBe(CELLS);
      });
      return found;
    } finally {
      await client.end();
    }
  }

  /** The node that owns the cell of the agent, when no cell moves any more. */
  async function receiver(store: string, nodes: readonly Parley[]): Promise<Parley> {
    const cell = cellOf({ owner: { tenant: '', principal: '' }, agent: 'script', contextId: contextId('') }, CELLS);
    const owned = await settledCells(store, nodes.length);
    const found = nodes.find(({ url }) => url === owned.find(({ cells }) => cells.includes(cell))?.url);
    if (found === undefined) throw new Error(`no node owns the cell: ${JSON.stringify(owned)}`);
    return found;
  }

  for (const kind of KINDS) {
    const isThere = programOf(kind.keepsRequests ? 'mosquitto' : 'nats-server') !== undefined;
    describe.skipIf(!isThere)(`with ${kind.name}${isThere ? '' : ' [needs the broker]'}`, () => {
      const expectNoneLost = kind.keepsRequests ? expectAnswers : expectAnswersToRepeats;

      it('answer each request once, and none is lost when the node that receives requests is killed, and the next one is stopped', async () => {
        const running = await kind.startBroker();
        onStop(() => running.stop());
        const store = await freshDatabase();
        const nodes = await threeNodes(kind, running.url, store);
        await receiver(store, nodes);
        const desk = await deskOn(kind, running.url);
        // While cells move, a request may be answered twice.
        await expectAnswersToRepeats(desk, names());
        await expectOneAnswerEach(desk, await askAll(desk));

        const killed = await receiver(store, nodes);
        await killed.kill();
        await expectNoneLost(desk, await askAll(desk));

        const left = nodes.filter((node) => node !== killed);
        const stopped = await receiver(store, left);
        const asking = askAll(desk);
        expect(await stopped.stop(), stopped.errors()).toBe(0);
        await expectNoneLost(desk, await asking);
        // The node that stopped may have answered all of these, so the next one may not receive requests yet.
        await expectAnswersToRepeats(desk, names());
        await expectOneAnswerEach(desk, await askAll(desk));
      });
    });
  }

  describe('the control', () => {
    const [kind] = KINDS;

    /** Three processes in small. `isMine`: whether all of them receive requests. */
    async function processes(url: string, isMine?: () => boolean): Promise<string> {
      const agent = builtInAgents.get('script')?.create();
      if (agent === undefined) throw new Error('there is no agent script');
      const store = await freshDatabase();
      for (const at of ['a', 'b', 'c']) {
        const opened = await openPostgresStore(store, { share: 'fair', leaseMs: 2000, search: false });
        onStop(async () => opened.close());
        const mesh = joinMesh({ broker: await connectMqtt({ url, sessionSeconds: 0 }), namespace: NODE_NAMESPACE, instance: at });
        const engine = createEngine({
          store: opened,
          secret: opened.secret,
          agents: { script: agent },
          replyPublisher: mesh.replyPublisher,
        });
        await engine.start();
        onStop(async () => {
          await mesh.stopServing();
          await engine.stop({ ms: 500 });
          await mesh.close();
        });
        const { cells } = opened;
        if (cells === undefined) throw new Error('the store has no cells');
        const turns = agentTurns(cells);
        const connect = (): Promise<Broker> => connectMqtt({ url, clientId: `receiver-${isMine === undefined ? '' : at}` });
        await mesh.serveBeside(
          { name: 'script', card: agent.card, service: engine.serviceOf('script') },
          { isMine: isMine ?? (() => turns.isMine('script')), isAlone: turns.isAlone, connect },
        );
      }
      return store;
    }

    /** The largest number of answers to one request while processes join. Cells move then, and by chance a request meets that. */
    async function mostAnswers(one: Kind): Promise<number> {
      const running = await one.startBroker();
      onStop(() => running.stop());
      const desk = await deskOn(one, running.url);
      let hasJoined = false;
      const joining = processes(running.url, () => true).finally(() => {
        hasJoined = true;
      });
      const asked: string[] = [];
      for (; !hasJoined; await sleep(20)) asked.push(...(await askAll(desk)));
      await joining;
      // Answers to earlier requests come before those to later ones.
      await expectAnswersToRepeats(desk, names());
      const most = Math.max(...asked.map(desk.answers));
      await stopAll();
      return most;
    }

    it('answers more than once if every process receives requests, and once if the owner of the agent’s cell does', async () => {
      if (kind === undefined) throw new Error('there is no broker');
      let most = 0;
      for (let round = 1; most < 2 && round <= 12; round += 1) most = await mostAnswers(kind);
      expect(most).toBeGreaterThan(1);

      const again = await kind.startBroker();
      onStop(() => again.stop());
      await settledCells(await processes(again.url), 3);
      const other = await deskOn(kind, again.url);
      await expectAnswersToRepeats(other, names());
      // A process that was alone may receive requests for a moment longer.
      await eventually(async () => expectOneAnswerEach(other, await askAll(other)));
    });
  });
});
