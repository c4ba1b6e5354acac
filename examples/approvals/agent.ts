import { type Agent, defineAgent } from 'parley-a2a/agents';

/** Deletes nothing before somebody agrees. An answer that matches no option gets the same question again. */
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
