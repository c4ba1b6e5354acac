import { type Agent, defineAgent } from 'parley-a2a/agents';

const echo: Agent = defineAgent({
  name: 'echo',
  description: 'Gives back what it is sent.',
  run: (turn) => turn.parts,
});

export default echo;
