// A minimal server: an engine with a command as its agent, in its own process. Arguments: the state folder, what to do, and the command.
// `run` prints `up` after the command's first output and stays; `drain` runs the command to its end and prints the memory that it took.
import { createCommandAgent } from '#agents';
import { createEngine } from '#engine';
import { createUserMessage, dialectId, LOCAL_PRINCIPAL } from '#protocol';
import { boundYoungHeap } from '../../../src/cli/serve/heap-limit.ts';
import { memoryStore } from '../../../src/engine/adapters/memory.ts';

const [state = '', what = '', output = '', ...argv] = process.argv.slice(2);
const agent = createCommandAgent(
  { argv, ...(output === 'ndjson' ? { output } : {}) },
  {
    cwd: state,
    state,
    sandbox: 'plain',
    concurrency: 100,
    ...(process.env['QUOTA'] === undefined ? {} : { outputBytesMax: Number(process.env['QUOTA']) }),
  },
);
boundYoungHeap(); // as `parley serve` does
const engine = createEngine({ store: memoryStore(), agents: { agent } });
await engine.start();
const context = { principal: LOCAL_PRINCIPAL, dialect: dialectId('v10'), extensions: [], signal: new AbortController().signal };
let before = 0;
let peak = 0;
const look = (): void => {
  peak = Math.max(peak, process.memoryUsage().rss);
};

if (what === 'reap') {
  // The first run waits until the leftover processes of the last server are gone.
  await engine.serviceOf('agent').send({ message: createUserMessage('go') }, context);
  process.stdout.write('reaped\n');
  process.exit(0);
}
(globalThis as { gc?: () => void }).gc?.();
before = process.memoryUsage().rss;
const watching = setInterval(look, 20);
for await (const batch of engine.serviceOf('agent').stream({ message: createUserMessage('go') }, context)) {
  for (const { event } of batch) {
    if (what === 'run' && event.artifactUpdate !== undefined) process.stdout.write('up\n');
    const { state: ended } = event.statusUpdate?.status ?? {};
    if (ended !== undefined) process.stdout.write(`${ended}\n`);
    if (event.artifactUpdate?.artifact.name === 'result')
      process.stdout.write(`${JSON.stringify(event.artifactUpdate.artifact.parts[0]?.data).slice(-300)}\n`);
    if (event.statusUpdate?.metadata?.['event'] === 'note')
      process.stdout.write(`note ${JSON.stringify(event.statusUpdate.status.message?.parts[0]).slice(0, 200)}\n`);
  }
}
look();
clearInterval(watching);
process.stdout.write(`grew ${Math.round((peak - before) / 2 ** 20)}\n`);
process.exit(0);
