// parley serve examples/mesh/writer.ts --mesh mqtt://127.0.0.1:1883
import { type Agent, defineAgent } from 'parley-a2a/agents';

const writer: Agent = defineAgent({
  name: 'writer',
  description: 'Writes a headline.',
  run: (turn) => `All about ${turn.text}!`,
});

export default writer;
