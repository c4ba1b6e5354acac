import { type Agent, ask, defineAgent } from 'parley-a2a/agents';

/** Does nothing that cannot be undone before somebody has said yes. */
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
    if (option === undefined) return ask('That was neither yes nor no, so nothing was done. What should I do?');
    return option === 'go' ? `Deleted ${turn.text}.` : `Kept ${turn.text}.`;
  },
});

export default cleaner;
