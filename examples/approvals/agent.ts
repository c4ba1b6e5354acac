import { type Agent, defineAgent } from 'parley-a2a/agents';

/** Asks before it deletes anything. After an answer that matches no option it asks again. */
const cleaner: Agent = defineAgent({
  name: 'cleaner',
  description: 'Deletes files, if you agree.',
  run: async (turn) => {
    const { option } = await turn.ask(`Delete ${turn.text}?`, {
      options: [
        { optionId: 'go', name: 'Delete it', kind: 'allow_once' },
        { optionId: 'stop', name: 'Keep it', kind: 'reject_once' },
      ],
    });
    return option === 'go' ? `Deleted ${turn.text}.` : `Kept ${turn.text}.`;
  },
});

export default cleaner;
