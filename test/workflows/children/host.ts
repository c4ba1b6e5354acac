import { appendFileSync } from 'node:fs';
import { createEngine } from '#engine';
import type { A2AService, Agent, Json, JsonObject } from '#protocol';
import { createDataPart, createUserMessage, dialectId, isDataPart, LOCAL_PRINCIPAL, messageId, startFold } from '#protocol';
import { readWorkflow, workflowAgent } from '#workflows';
import { memoryBlobs, memoryStore } from '../../../src/engine/adapters/memory.ts';
import { openSqliteStore } from '../../../src/engine/adapters/sqlite.ts';

/**
 * Runs a workflow on SQLite in one process: `host.ts FOLDER MOMENT [forgetful]`. It writes a line to FOLDER/ran for every start of a worker
 * and every finished node, and kills itself at line MOMENT. Otherwise it prints the answer. With `forgetful` it stores tasks in memory only.
 */
setInterval(() => {}, 1000); // a pending second attempt does not keep the process alive
const [folder = '', moment = '0', kind] = process.argv.slice(2);
let moments = 0;
function happens(what: string): void {
  appendFileSync(`${folder}/ran`, `${what}\n`);
  moments += 1;
  if (moments === Number(moment)) process.kill(process.pid, 'SIGKILL');
}

const card = workflowCard();
const worker: Agent = {
  card,
  recovery: 'retry',
  async *run(turn) {
    const { at } = (turn.message.parts.find(isDataPart)?.data ?? {}) as { at?: Json };
    happens(`begin ${String(at)}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
    yield { kind: 'data', data: { at: at ?? null } };
  },
};

const call = (id: string, at: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'agent',
  agent_name: 'worker',
  input: { at },
  ...more,
});
const workflow = readWorkflow({
  description: 'Every kind of node.',
  nodes: [
    call('first', 'first'),
    {
      id: 'which',
      type: 'switch',
      depends_on: ['first'],
      cases: [{ condition: '{{first.output.at}} == first', node: 'left' }],
      default: 'right',
    },
    call('left', 'left'),
    call('right', 'right'),
    { id: 'each', type: 'map', depends_on: ['left'], items: [0, 1, 2], node: 'item' },
    call('item', 'item {{_map_index}}'),
    { id: 'again', type: 'loop', depends_on: ['each'], node: 'step', condition: '{{_loop_iteration}} < 1' },
    call('step', 'step {{_loop_iteration}}'),
    call('last', 'last', { depends_on: ['again'] }),
  ],
  output_mapping: { last: '{{last.output.at}}', items: '{{each.output.results}}' },
});

const services = new Map<string, A2AService>();
const flow = workflowAgent(workflow, { findAgent: (name) => services.get(name) });
const engine = createEngine({
  agents: { flow, worker },
  store: kind === 'forgetful' ? memoryStore() : openSqliteStore(`${folder}/tasks.db`),
  blobs: memoryBlobs(),
});
for (const name of ['flow', 'worker']) services.set(name, engine.serviceOf(name));
await engine.start();
const ctx = {
  principal: LOCAL_PRINCIPAL,
  dialect: dialectId('v10'),
  extensions: [],
  idempotencyKey: 'once',
  signal: new AbortController().signal,
};
const message = createUserMessage([createDataPart({})], { messageId: messageId('once') });
const fold = startFold();
for await (const batch of engine.serviceOf('flow').stream({ message }, ctx)) {
  for (const { event } of batch) {
    fold.add(event);
    const { artifactId: id = '', parts = [] } = event.artifactUpdate?.artifact ?? {};
    const result = parts.find(isDataPart)?.data as { output?: { at?: string } } | undefined;
    if (id.startsWith('node:') && typeof result?.output?.at === 'string') happens(`finished ${result.output.at}`);
  }
}
const task = fold.task();
const output = task.artifacts?.find(({ artifactId }) => artifactId === 'result')?.parts.find(isDataPart)?.data;
process.stdout.write(`${JSON.stringify({ state: task.status.state, output })}\n`);
process.exit(0);

function workflowCard(): Agent['card'] {
  return {
    name: 'worker',
    description: 'Works.',
    version: '1',
    supportedInterfaces: [],
    capabilities: { streaming: true },
    defaultInputModes: ['*/*'],
    defaultOutputModes: ['*/*'],
    skills: [],
  };
}
