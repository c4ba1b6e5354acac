import { type Agent, defineAgent } from 'parley-a2a/agents';

const shout: Agent = defineAgent({ name: 'shout', description: 'Says it louder.', run: (turn) => turn.text.toUpperCase() });

export default shout;
