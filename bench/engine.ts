import { createEngine } from '#engine';
import type { A2AService, Agent, AgentCard, CallContext } from '#protocol';
import { createUserMessage, dialectId, LOCAL_PRINCIPAL, messageId } from '#protocol';
import { memoryStore } from '../src/engine/adapters/memory.ts';

/**
 * Measures the engine alone, over the store in memory: no binding, no disk, no network.
 *
 *     node --conditions=our-src bench/engine.ts [--rounds 5] [--sends 40000] [--chunks 64000]
 */
const rounds = numberOf('--rounds', 5);
const sends = numberOf('--sends', 40_000);
const chunks = numberOf('--chunks', 64_000);
const IN_FLIGHT = 32;

const card: AgentCard = {
  name: 'bench',
  description: 'Runs the measured work.',
  version: '1',
  supportedInterfaces: [],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
};
const echo: Agent = {
  card,
  recovery: 'retry',
  run: async function* ({ message }) {
    yield { kind: 'artifact', parts: message.parts };
  },
};
const chatty: Agent = {
  card,
  recovery: 'retry',
  run: async function* () {
    for (let at = 0; at < chunks; at += 1) yield { kind: 'text', text: 'thirty-two bytes of text, so far.' };
  },
};

let messages = 0;
/** The id is a flat string, as in a parsed body, and not the rope that `randomUUID` makes. */
const message = (text: string) => createUserMessage(text, { messageId: messageId(`m${++messages}`) });

const context = (): CallContext => ({
  principal: LOCAL_PRINCIPAL,
  dialect: dialectId('v10'),
  extensions: [],
  signal: new AbortController().signal,
});

async function sendAll(service: A2AService, count: number): Promise<void> {
  let left = count;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { task } = await service.send({ message: message('hello there') }, context());
      if (task?.status.state !== 'TASK_STATE_COMPLETED') throw new Error(`not completed: ${JSON.stringify(task)}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
}

async function readAll(service: A2AService): Promise<number[]> {
  const marks: number[] = [];
  let seen = 0;
  for await (const batch of service.stream({ message: message('go') }, context())) {
    for (const { seq } of batch) {
      if (seq !== seen + 1) throw new Error(`${seq} after ${seen}`);
      seen = seq;
      if (seen % (chunks / 4) === 0) marks.push(performance.now());
    }
  }
  if (seen !== chunks + 2) throw new Error(`${seen} events`);
  return marks;
}

for (let round = 1; round <= rounds; round += 1) {
  const engine = createEngine({ store: memoryStore(), agents: { echo, chatty } });
  await engine.start();
  const start = performance.now();
  const cpu = process.cpuUsage();
  await sendAll(engine.serviceOf('echo'), sends);
  const { user, system } = process.cpuUsage(cpu);
  const sent = performance.now();
  const marks = [sent, ...(await readAll(engine.serviceOf('chatty')))];
  const read = performance.now();
  const quarters = marks.slice(1).map((mark, at) => mark - (marks[at] ?? mark));
  console.log(
    `round ${round}: ${perSecond(sends, sent - start)} sends/s (${((user + system) / sends).toFixed(1)} µs CPU each), ${perSecond(chunks, read - sent)} chunks/s,`,
    `last quarter ${((quarters.at(-1) ?? 0) / (quarters[0] ?? 1)).toFixed(2)} x the first`,
  );
  await engine.stop();
}

function perSecond(count: number, ms: number): string {
  return Math.round((count / ms) * 1000).toLocaleString('en-US');
}

function numberOf(flag: string, byDefault: number): number {
  const at = process.argv.indexOf(flag);
  return at === -1 ? byDefault : Number(process.argv[at + 1]);
}
