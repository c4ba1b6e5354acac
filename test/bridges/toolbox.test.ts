import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { llmAgent, openAiModel } from '#agents';
import type { Task } from '#protocol';
import { getTextFromMessage } from '#protocol';
import { agentToolbox, joinToolboxes } from '#tools';
import { mcpToolbox } from '../../src/tools/adapters/mcp.ts';
import type { FakeModel } from '../support/fake-model/server.ts';
import { startFakeModel } from '../support/fake-model/server.ts';
import { startServer } from '../support/server.ts';
import { talkTo } from '../support/talk.ts';

let fake: FakeModel;
beforeAll(async () => {
  fake = await startFakeModel();
});
afterAll(() => fake.close());

const asked = (task: Task): string => (task.status.message === undefined ? '' : getTextFromMessage(task.status.message));

it("gives a language model an MCP server's tools and another agent's skills, each call after an approval", async () => {
  const node = await startServer();
  const server = join(import.meta.dirname, 'children', 'mcp-server.ts');
  const toolbox = joinToolboxes([
    mcpToolbox({ command: process.execPath, args: ['--conditions=our-src', server] }),
    agentToolbox([{ url: `${node.url}/agents/echo/` }]),
  ]);
  const agent = llmAgent({ model: openAiModel({ baseUrl: `${fake.url}/v1`, model: 'fake' }), tools: toolbox });
  expect(agent.runsCommands).toBe(true);
  const names = (await toolbox.tools()).map(({ name }) => name);
  const mcp = 'shout';
  const echo = names.find((name) => name.startsWith('a2a__echo'));
  const { task, stop } = await talkTo(agent);
  const first = await task(`[[call ${mcp}|{"text":"hey"}]] [[call ${echo}|{"query":"hello"}]]`);
  expect(asked(first)).toBe(`May I call ${mcp} with {"text":"hey"}?`);
  const second = await task('yes', { taskId: first.id });
  expect(asked(second)).toBe(`May I call ${echo} with {"query":"hello"}?`);
  const done = await task('yes', { taskId: first.id });
  expect(done.status.state).toBe('TASK_STATE_COMPLETED');
  const results =
    fake.asked
      .at(-1)
      ?.filter(({ role }) => role === 'tool')
      .map(({ text }) => text) ?? [];
  expect(results[0]).toContain('HEY');
  expect(results[1]).toContain('"response":"hello"');
  await stop();
  await agent[Symbol.asyncDispose]();
  await node.close();
});
