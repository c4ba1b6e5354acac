import { builtInAgents, defineAgent } from '#agents';
import { createEngine } from '#engine';
import type { Broker } from '#mesh';
import { joinMesh } from '#mesh';
import type { CallContext } from '#protocol';
import { createUserMessage, dialectId } from '#protocol';
import { memoryStore } from '../src/engine/adapters/memory.ts';
import { connectMqtt } from '../src/mesh/adapters/mqtt.ts';
import { connectNats } from '../src/mesh/adapters/nats.ts';
import { programOf, startMosquitto, startNats } from '../test/support/brokers.ts';

/**
 * Compares requests and streams through the mesh with bare request/reply and publish: same client, same QoS, same broker.
 *
 *     node --conditions=our-src bench/mesh.ts [--sends 4000] [--rounds 3] [--flight 32]
 */
const NAMESPACE = 'bench';
const sends = numberOf('--sends', 4000);
const rounds = numberOf('--rounds', 3);
const flight = numberOf('--flight', 32);
const encoder = new TextEncoder();
/** About as long as a message of the mesh. */
const BODY = JSON.stringify({ text: 'x'.repeat(400) });

const ctx: CallContext = {
  principal: { id: 'bench', scopes: [] },
  dialect: dialectId('v10'),
  extensions: [],
  signal: new AbortController().signal,
};

const BROKERS = [
  { name: 'Mosquitto', program: 'mosquitto', start: startMosquitto, connect: (url: string) => connectMqtt({ url, sessionSeconds: 0 }) },
  { name: 'NATS', program: 'nats-server', start: startNats, connect: (url: string) => connectNats({ servers: url }) },
];

for (const { name, program, start, connect } of BROKERS) {
  if (programOf(program) === undefined) {
    process.stdout.write(`${name}: ${program} is not installed\n`);
    continue;
  }
  const running = await start();
  try {
    await compare(name, () => connect(running.url));
  } finally {
    await running.stop();
  }
}
process.exit();

async function compare(name: string, connect: () => Promise<Broker>): Promise<void> {
  const [bare, bareServer, broker, server] = await Promise.all([connect(), connect(), connect(), connect()]);
  const ask = await bareCalls(bare, bareServer);
  const echo = defineAgent({ name: 'echo', description: 'Repeats the text.', run: (turn) => turn.text });
  const script = builtInAgents.get('script')?.create();
  if (script === undefined) throw new Error('script is missing');
  const mesh = joinMesh({ broker: server, namespace: NAMESPACE });
  const engine = createEngine({ store: memoryStore(), agents: { echo, script }, replyPublisher: mesh.replyPublisher });
  await engine.start();
  for (const [agent, { card }] of Object.entries({ echo, script }))
    await mesh.serve({ name: agent, card, service: engine.serviceOf(agent) });
  const calling = joinMesh({ broker, namespace: NAMESPACE });
  const caller = await calling.call({ kind: 'gateway', id: 'bench' });
  const link = caller.link({ agent: 'echo' });
  const viaMesh = async (): Promise<void> => void (await link.send({ message: createUserMessage('hello') }, ctx));
  await perSecond(ask, sends / 4);
  await perSecond(viaMesh, sends / 4);
  for (let round = 1; round <= rounds; round += 1) {
    const beside = await perSecond(ask, sends);
    const ours = await perSecond(viaMesh, sends);
    say(`${name} ${round}: request/reply`, ours, beside);
    const published = await perSecond(async () => void (await bare.publish({ topic: 'bench/none', payload: encoder.encode(BODY) })), sends);
    const events = await eventsPerSecond(caller.link({ agent: 'script' }));
    say(`${name} ${round}: events of streams`, events, published);
  }
  await mesh.stopServing();
  await engine.stop({ ms: 100 });
  await Promise.all([mesh.close(), calling.close(), bare.close(), bareServer.close()]);
}

/** A request and its reply: one message each, of the mesh's size, each acknowledged. */
async function bareCalls(client: Broker, server: Broker): Promise<() => Promise<void>> {
  const waiting = new Map<string, () => void>();
  await server.subscribe({
    filter: 'bench/ask',
    group: 'bench',
    handle: async ({ payload, properties }) => {
      await server.publish({ topic: 'bench/answers/me', payload, properties });
    },
  });
  await client.subscribe({
    filter: 'bench/answers/me',
    handle: ({ properties }) => {
      const id = properties['id'] ?? '';
      waiting.get(id)?.();
      waiting.delete(id);
    },
  });
  let last = 0;
  return async () => {
    last += 1;
    const id = String(last);
    const answered = new Promise<void>((resolve) => waiting.set(id, resolve));
    await client.publish({ topic: 'bench/ask', payload: encoder.encode(BODY), properties: { id } });
    await answered;
  };
}

async function eventsPerSecond(link: ReturnType<Awaited<ReturnType<ReturnType<typeof joinMesh>['call']>>['link']>): Promise<number> {
  let events = 0;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: flight }, async () => {
      for await (const batch of link.stream({ message: createUserMessage(`chunks=${Math.ceil(sends / flight)}`) }, ctx))
        events += batch.length;
    }),
  );
  return (events * 1000) / (performance.now() - begun);
}

async function perSecond(work: () => Promise<void>, count: number): Promise<number> {
  let left = count;
  const begun = performance.now();
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: flight }, worker));
  const { user, system } = process.cpuUsage(cpu);
  if (process.argv.includes('--cpu')) process.stdout.write(`  ${((user + system) / count).toFixed(0)} µs of processor time each\n`);
  return (count * 1000) / (performance.now() - begun);
}

function say(what: string, ours: number, beside: number): void {
  const ratio = (ours / beside).toFixed(2);
  process.stdout.write(`${what.padEnd(32)} ${Math.round(ours)}/s beside ${Math.round(beside)}/s bare: ${ratio}\n`);
}

function numberOf(flag: string, unless: number): number {
  const at = process.argv.indexOf(flag);
  return at === -1 ? unless : Number(process.argv[at + 1]);
}
