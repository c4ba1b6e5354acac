import { expect, it } from 'vitest';
import { createCommandAgent } from '#agents';
import { scratchFolder } from '../support/scratch.ts';
import { talkTo } from '../support/talk.ts';

it('every chunk of an answer has the artifact’s name and appends, after an empty beginning, as coding-agent-a2a documents it', async () => {
  const agent = createCommandAgent({ argv: ['sh', '-c', 'printf one; sleep 0.2; printf two'] }, { cwd: scratchFolder(), sandbox: 'plain' });
  const talk = await talkTo(agent);
  const updates = (await talk.stream('go')).flatMap(({ artifactUpdate }) => (artifactUpdate === undefined ? [] : [artifactUpdate]));
  await talk.stop();
  const answer = updates.filter(({ artifact }) => artifact.artifactId.startsWith('assistant-response'));
  expect(answer.map(({ artifact }) => artifact.name)).toEqual(answer.map(() => 'assistant-response'));
  expect(answer.map(({ append }) => append === true)).toEqual(answer.map((_, at) => at > 0));
  expect(answer[0]?.artifact.parts).toEqual([{ text: '' }]);
  expect(answer.flatMap(({ artifact }) => artifact.parts.map(({ text }) => text)).join('')).toBe('onetwo');
});
