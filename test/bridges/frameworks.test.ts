import { tool } from '@langchain/core/tools';
import { generateText, isStepCount } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentTool } from '#tools';
import { createA2AToolWrapper, toAiTools, toLangChainTools, toolsOf } from '#tools';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { builtIn, startServer } from '../support/server.ts';

let server: NodeServer;
let tools: readonly AgentTool[];
beforeAll(async () => {
  server = await startServer({ agents: [builtIn('script'), builtIn('echo')] });
  tools = await toolsOf([{ url: server.url }, { url: `${server.url}/agents/echo` }]);
});
afterAll(() => server.close());

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

describe('the Vercel AI SDK', () => {
  it('lets a model call an agent and returns the response', async () => {
    const input = JSON.stringify({ query: 'chunks=2' });
    const model = new MockLanguageModelV4({
      doGenerate: [
        {
          content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'a2a__script__script', input }],
          ...{ finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] },
        },
        { content: [{ type: 'text', text: 'It said so.' }], finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] },
      ],
    });
    const { text, steps } = await generateText({ model, prompt: 'ask it', tools: toAiTools(tools), stopWhen: isStepCount(3) });
    expect(text).toBe('It said so.');
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ response: 'chunk 1chunk 2', state: 'completed' });
    const offered = model.doGenerateCalls[0]?.tools ?? [];
    expect(offered.map((tool) => tool.name)).toEqual(['a2a__script__script', 'a2a__echo__echo']);
    expect(offered[0]).toMatchObject({ type: 'function', inputSchema: { type: 'object', required: ['query'] } });
  });
});

describe('LangChain', () => {
  it('calls an agent as a structured tool', async () => {
    const [script, echo] = toLangChainTools(tools, (run, fields) => tool(run, fields));
    expect([script?.name, echo?.name]).toEqual(['a2a__script__script', 'a2a__echo__echo']);
    expect(JSON.parse(String(await echo?.invoke({ query: 'hello' })))).toMatchObject({ response: 'hello' });
    const answer = await echo?.invoke({ type: 'tool_call', id: 'c1', name: 'a2a__echo__echo', args: { query: 'again' } });
    expect(answer).toMatchObject({ tool_call_id: 'c1', status: 'success' });
  });

  it('refuses arguments that do not match the schema before calling the agent', async () => {
    await expect(toLangChainTools(tools, (run, fields) => tool(run, fields))[1]?.invoke({ query: 7 } as never)).rejects.toThrow();
  });
});

describe('createA2AToolWrapper', () => {
  it('takes an agent as CortexPrism’s configuration has it', async () => {
    const tool = createA2AToolWrapper({ endpoint: server.url, authToken: 'sk-1', timeout: 30_000 });
    expect(tool.definition.name).toBe('a2a_127_0_0_1');
    expect(await tool.execute({ message: 'chunks=1' })).toMatchObject({ success: true, output: 'chunk 1' });
    const named = createA2AToolWrapper('script', { endpoint: server.url, agentCardUrl: `${server.url}/.well-known/agent-card.json` });
    expect(named.definition.name).toBe('a2a_script');
    expect(await named.execute({ message: 'chunks=1' })).toMatchObject({ success: true });
    const slow = createA2AToolWrapper('slow', { endpoint: server.url, timeout: 50 });
    expect(await slow.execute({ message: 'sleep=60000' })).toMatchObject({ success: false, error: { code: 'A2A_ERROR' } });
  });

  it('makes a tool in CortexPrism’s form', async () => {
    const tool = createA2AToolWrapper('partner bot', { url: server.url });
    expect(tool.definition).toMatchObject({
      name: 'a2a_partner_bot',
      parameters: { required: ['message'], properties: { message: { type: 'string' }, contextId: { type: 'string' } } },
      capabilities: ['network:fetch'],
    });
    expect(await tool.execute({ message: 'chunks=1' })).toMatchObject({ success: true, output: 'chunk 1', truncated: false });
    expect(await tool.execute({ message: 'chunks=1 size=9000' })).toMatchObject({ success: true, truncated: true });
    expect(await tool.execute({ message: 'fail' })).toMatchObject({
      success: false,
      error: { code: 'A2A_ERROR', message: 'The message asked me to fail.', retryable: true },
    });
  });

  it('fetches the card again after an error', async () => {
    const { port } = server;
    const down = await startServer({ agents: [builtIn('echo')] });
    const tool = createA2AToolWrapper('echo', { url: down.url, retry: { tries: 1 } });
    expect(await tool.execute({ message: 'hi' })).toMatchObject({ success: true });
    await down.close();
    const failed = await tool.execute({ message: 'hi' });
    expect(failed).toMatchObject({ success: false, error: { code: 'A2A_ERROR', retryable: true } });
    const again = await startServer({ agents: [builtIn('echo')], port: down.port });
    expect(await tool.execute({ message: 'back' })).toMatchObject({ success: true, output: 'back' });
    await again.close();
    expect(port).toBe(server.port);
  });
});

describe('credentials', () => {
  it('are found in the environment of the process', async () => {
    process.env['OWN_PARTNER_TOKEN'] = 'sk-1';
    try {
      expect(await toolsOf([{ url: server.url, auth: { tokenEnv: 'OWN_PARTNER_TOKEN' } }])).not.toEqual([]);
    } finally {
      delete process.env['OWN_PARTNER_TOKEN'];
    }
    await expect(toolsOf([{ url: server.url, auth: { tokenEnv: 'OWN_PARTNER_TOKEN' } }])).rejects.toThrow('OWN_PARTNER_TOKEN is not set');
  });

  it('come from the environment, separately for each agent', async () => {
    const seen: (string | undefined)[][] = [];
    const guarded = await startServer({
      agents: [builtIn('echo')],
      authenticate: (asked) => {
        seen.push([asked.header('authorization'), asked.header('x-tenant')]);
        return { principal: { id: 'someone', scopes: ['*'] } };
      },
    });
    const target = { url: guarded.url, auth: { tokenEnv: 'PARTNER_TOKEN' }, headersFromEnv: ['X-Tenant=PARTNER_TENANT'] };
    const [tool] = await toolsOf([target], { env: { PARTNER_TOKEN: 'sk-1', PARTNER_TENANT: 'acme' } });
    await tool?.execute({ query: 'x' });
    expect(seen.at(-1)).toEqual(['Bearer sk-1', 'acme']);
    await expect(toolsOf([target], { env: {} })).rejects.toThrow('the environment variable PARTNER_TENANT is not set');
    await guarded.close();
  });
});
