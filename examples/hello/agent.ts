import { type Agent, defineAgent } from 'parley-a2a/agents';

const hello: Agent = defineAgent({ name: 'hello', description: 'Greets the person who writes.', run: (turn) => `Hello, ${turn.text}!` });

export default hello;
