import { expect } from 'vitest';
import type { JsonObject, Task } from '#protocol';
import type { ParleyConfig } from '#server';
import { findAgent } from '../../../src/cli/serve/find-agent.ts';
import { startFakeModel } from '../../support/fake-model/server.ts';
import { builtIn, startServer } from '../../support/server.ts';
import { talkTo } from '../../support/talk.ts';
import type { Checks } from './serving.ts';
import { resolved } from './serving.ts';

interface Asked {
  readonly task: Task;
  readonly paths: readonly string[];
  readonly body: JsonObject;
}

/** Sends one message to the agent `llm` of this configuration, in front of the fake model. */
async function asked(llm: NonNullable<ParleyConfig['llm']>, text = 'hi', base = (url: string): string => `${url}/v1`): Promise<Asked> {
  const fake = await startFakeModel();
  const { agent } = await findAgent('llm', resolved({ memory: true, run: { model: 'fake' }, llm: { baseUrl: base(fake.url), ...llm } }));
  if ('service' in agent) throw new Error('not an agent');
  const talk = await talkTo(agent);
  try {
    const task = await talk.task(text);
    return { task, paths: fake.requests, body: fake.bodies[0] ?? {} };
  } finally {
    await talk.stop();
    await fake.close();
  }
}

/** The name of a tool in a request. */
const toolIn = ({ body }: Asked): string => /a2a__\w+/.exec(JSON.stringify(body['tools'] ?? []))?.[0] ?? '';

/** A language model as an agent. */
export const LLM_CHECKS: Checks = {
  'llm.baseUrl': async () => expect((await asked({})).task.status.state).toBe('TASK_STATE_COMPLETED'),
  'llm.api': async () => expect((await asked({ api: 'anthropic' })).paths).toEqual(['POST /v1/messages']),
  'llm.system': async () => expect(JSON.stringify((await asked({ system: 'Speak Latin.' })).body)).toContain('Speak Latin.'),
  'llm.tools': async () => {
    const echo = await startServer({ agents: [builtIn('echo')] });
    expect(toolIn(await asked({ tools: [echo.url] }).finally(() => echo.close()))).toContain('echo');
  },
  'llm.approval': async () => {
    const echo = await startServer({ agents: [builtIn('echo')] });
    try {
      const tool = toolIn(await asked({ tools: [echo.url] }));
      const { task } = await asked({ tools: [echo.url], approval: 'never' }, `[[call ${tool}|{"query":"x"}]]`);
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    } finally {
      await echo.close();
    }
  },
};
