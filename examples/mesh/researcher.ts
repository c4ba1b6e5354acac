// parley serve examples/mesh/researcher.ts --mesh mqtt://127.0.0.1:1883
import { setTimeout as sleep } from 'node:timers/promises';
import { type Agent, defineAgent, status } from 'parley-a2a/agents';

const researcher: Agent = defineAgent({
  name: 'researcher',
  description: 'Looks things up, and takes its time.',
  // Running twice does no harm, so a run that a crash interrupted is repeated after the restart.
  recovery: 'retry',
  run: async function* (turn) {
    yield status('Reading');
    await sleep(2000, undefined, { signal: turn.signal });
    yield `three facts about ${turn.text}`;
  },
});

export default researcher;
