import { type Agent, defineAgent } from 'parley-a2a/agents';

export interface Model {
  /** Any OpenAI-compatible endpoint: a vendor's, Ollama's, vLLM's, LM Studio's. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string;
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
}

/** A language model as an agent: the task's history is the conversation, and every token is an event. */
export function chatAgent({ baseUrl, model, apiKey }: Model): Agent {
  return defineAgent({
    name: 'llm',
    description: `Talks, by ${model}.`,
    async *run(turn) {
      const messages = [
        ...turn.history.map(({ role, parts }) => ({
          role: role === 'ROLE_AGENT' ? 'assistant' : 'user',
          content: parts.map((part) => part.text ?? '').join(''),
        })),
        { role: 'user', content: turn.text },
      ];
      const response = await fetch(`${baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }) },
        body: JSON.stringify({ model, messages, stream: true }),
        signal: turn.signal,
      });
      if (!response.ok || response.body === null) throw new Error(`the model answers with HTTP ${response.status}`);
      for await (const line of linesOf(response.body)) {
        if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
        const chunk = JSON.parse(line.slice('data: '.length)) as Chunk;
        yield chunk.choices?.[0]?.delta?.content ?? '';
      }
    },
  });
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

const { OPENAI_BASE_URL: baseUrl = 'http://127.0.0.1:11434/v1', OPENAI_MODEL: model = 'llama3.2', OPENAI_API_KEY: apiKey } = process.env;

/** `parley serve examples/llm/agent.ts` uses the endpoint in these variables, or Ollama on this machine. */
const agent: Agent = chatAgent({ baseUrl, model, ...(apiKey === undefined ? {} : { apiKey }) });

export default agent;
