import { A2AClient } from 'parley-a2a';
import { type Agent, defineAgent, status } from 'parley-a2a/agents';

export const research: Agent = defineAgent({
  name: 'research',
  description: 'Finds facts.',
  async *run(turn) {
    yield status('Reading');
    yield `Facts about ${turn.text}.`;
  },
});

export const writer: Agent = defineAgent({ name: 'writer', description: 'Writes it up.', run: (turn) => `Report: ${turn.text}` });

/** Asks one agent, passes its answer to the next, and reports progress. A cancel reaches both agents. */
export function editor(researchUrl: string, writerUrl: string): Agent {
  return defineAgent({
    name: 'editor',
    description: 'Has reports written.',
    async *run(turn) {
      const { signal } = turn;
      yield status('Asking research');
      const facts = await (await A2AClient.connect(researchUrl)).send(turn.text, { signal }).text();
      yield status('Asking the writer');
      yield await (await A2AClient.connect(writerUrl)).send(facts, { signal }).text();
    },
  });
}
