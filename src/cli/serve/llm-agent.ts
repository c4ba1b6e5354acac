import type { ChatModel, LlmToolbox } from '#agents';
import { anthropicModel, llmAgent, openAiModel } from '#agents';
import type { Settings } from '#server';
import { agentToolbox, joinToolboxes } from '#tools';
import type { FoundAgent } from '../../server/adapters/serve-configured.ts';
import { isAddress } from '../agent/address.ts';
import { CliError } from '../command.ts';
import { targetOf } from '../remote/connect.ts';
import { guardedFetchFor } from '../remote/guarded-fetch.ts';

/** `llm`: a language model. The key is never a flag, because other users of the machine can read command lines. */
export async function llmServed(settings: Settings, env: NodeJS.ProcessEnv = process.env): Promise<FoundAgent> {
  const { system, approval, tools } = settings.llm;
  const { model, hasKey } = modelOf(settings, env);
  const agent = llmAgent({
    model,
    approval,
    ...(system === undefined ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools: joinToolboxes(await Promise.all(tools.map((tool) => toolboxOf(tool, settings)))) }),
  });
  return { agent, source: 'llm', ...(hasKey ? { lendsCredential: true } : {}) };
}

interface FoundModel {
  readonly model: ChatModel;
  readonly hasKey: boolean;
}

function modelOf({ llm, run }: Settings, env: NodeJS.ProcessEnv): FoundModel {
  const isOpenAi = llm.api === 'openai';
  const keyName = isOpenAi ? 'OPENAI_API_KEY' : 'ANTHROPIC_API_KEY';
  const baseUrl = llm.baseUrl ?? (isOpenAi ? undefined : env['ANTHROPIC_BASE_URL']);
  const model = run.model ?? env['OPENAI_MODEL'];
  if (model === undefined || model === '') {
    throw new CliError('parley serve llm needs the name of a model', {
      hint: 'example: parley serve llm --model llama3.2 --base-url http://127.0.0.1:11434/v1',
      exit: 2,
    });
  }
  if (baseUrl !== undefined && !URL.canParse(baseUrl)) {
    throw new CliError(`--base-url ${baseUrl}: must be an address`, { hint: 'example: --base-url http://127.0.0.1:11434/v1', exit: 2 });
  }
  const apiKey = env[keyName];
  if ((apiKey === undefined || apiKey === '') && baseUrl === undefined) {
    throw new CliError(`${keyName} is not set, and ${isOpenAi ? 'OpenAI' : 'Anthropic'} needs a key`, {
      hint: `type: export ${keyName}=…   or name a server that needs none: --base-url http://127.0.0.1:11434/v1`,
      exit: 2,
    });
  }
  const endpoint = { model, ...(baseUrl === undefined ? {} : { baseUrl }), ...(apiKey === undefined || apiKey === '' ? {} : { apiKey }) };
  return { model: isOpenAi ? openAiModel(endpoint) : anthropicModel(endpoint), hasKey: 'apiKey' in endpoint };
}

/** A TOOL of the command line or the configuration. */
async function toolboxOf(tool: string, settings: Settings): Promise<LlmToolbox> {
  if (tool.startsWith('mcp:')) {
    const { mcpSource, mcpToolbox } = await import('../../tools/adapters/mcp.ts');
    const source = mcpSource(tool.slice('mcp:'.length).trim());
    return mcpToolbox(source, 'url' in source ? { fetch: guardedFetchFor([source.url], settings) } : {});
  }
  if (settings.a2a.remoteAgents[tool] === undefined && !isAddress(tool)) {
    throw new CliError(`--tool ${tool}: is neither mcp:COMMAND, nor an address, nor a name in a2a.remoteAgents`, {
      hint: 'example: --tool "mcp:npx -y some-mcp-server" --tool https://agent.example',
      exit: 2,
    });
  }
  const target = targetOf(tool, settings);
  return agentToolbox([target], { env: process.env, client: { fetch: guardedFetchFor([target.url], settings) } });
}
