import { setTimeout as pause } from 'node:timers/promises';
import { type Agent, defineAgent, status } from 'parley-a2a/agents';

/** Streams its answer word by word, like a language model. */
const teller: Agent = defineAgent({
  name: 'teller',
  description: 'Tells back what it hears, word by word.',
  async *run(turn) {
    yield status('Thinking');
    for (const word of turn.text.split(' ')) {
      yield `${word} `;
      await pause(20, undefined, { signal: turn.signal });
    }
  },
});

export default teller;
