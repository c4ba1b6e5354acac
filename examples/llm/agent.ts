import { type Agent, llmAgent, openAiModel } from 'parley-a2a/agents';

export interface Model {
  /** Any OpenAI-compatible endpoint: a vendor's, Ollama's, vLLM's, LM Studio's. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string;
}

/** A language model as an agent: it remembers the conversation, and every token is an event. */
export function chatAgent(endpoint: Model): Agent {
  return llmAgent({ model: openAiModel(endpoint), description: `Talks, by ${endpoint.model}.` });
}

const { OPENAI_BASE_URL: baseUrl = 'http://127.0.0.1:11434/v1', OPENAI_MODEL: model = 'llama3.2', OPENAI_API_KEY: apiKey } = process.env;

/** `parley serve examples/llm/agent.ts` uses the endpoint in these variables, or Ollama on this machine. */
const agent: Agent = chatAgent({ baseUrl, model, ...(apiKey === undefined ? {} : { apiKey }) });

export default agent;
