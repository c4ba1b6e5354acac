import { type Agent, defineAgent, status } from 'parley-a2a/agents';

/** Reviews a file that the editor sends, and asks before it writes its report. */
const agent: Agent = defineAgent({
  name: 'reviewer',
  description: 'Reviews files.',
  async *run(turn) {
    yield status('Reading the file');
    const lines = turn.parts.flatMap(({ text = '', filename }) => (filename === undefined ? [] : text.split('\n'))).length;
    const options = [
      { optionId: 'write', name: 'Write', kind: 'allow_once' },
      { optionId: 'skip', name: 'Skip', kind: 'reject_once' },
    ] as const;
    const { option } = await turn.ask('Write the report?', { options });
    yield option === 'write' ? `${lines} lines, no findings.` : 'Skipped.';
  },
});

export default agent;
