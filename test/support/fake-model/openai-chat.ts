import type { JsonObject } from '#protocol';
import type { Act, Asked, Turn } from './model.ts';
import { list, record, text } from './model.ts';
import type { Provider } from './provider.ts';
import { frame, pieces, said } from './provider.ts';

/** OpenAI's Chat Completions API, which many others speak too. */
export const openaiChat: Provider = {
  name: 'openai-chat',
  matches: (path) => path.endsWith('/chat/completions'),
  read,
  isStreamed: (body) => body['stream'] === true,
  whole: (act, id) => ({
    ...envelope(id, 'chat.completion'),
    choices: [{ index: 0, message: { role: 'assistant', content: said(act), ...calls(act, id) }, finish_reason: finish(act) }],
    usage: USAGE,
  }),
  frames,
};

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function read(body: JsonObject): Asked {
  const turns = list(body['messages']).map((raw): Turn => {
    const { role, content } = record(raw);
    const words =
      typeof content === 'string'
        ? content
        : list(content)
            .map((part) => text(record(part)['text']))
            .join('\n');
    if (role === 'tool') return { role: 'tool', text: words };
    return { role: role === 'user' ? 'user' : 'model', text: words };
  });
  const tools = list(body['tools']).map((raw) => {
    const { name, parameters } = record(record(raw)['function']);
    return { name: text(name), schema: record(parameters) };
  });
  return { turns, tools };
}

function envelope(id: string, object: string): JsonObject {
  return { id: `chatcmpl-${id}`, object, created: 1_760_000_000, model: 'fake-model' };
}

function calls(act: Act, id: string): JsonObject {
  if (act.kind !== 'call') return {};
  return {
    tool_calls: [{ index: 0, id: `call_${id}`, type: 'function', function: { name: act.tool, arguments: JSON.stringify(act.input) } }],
  };
}

function finish(act: Act): string {
  return act.kind === 'call' ? 'tool_calls' : 'stop';
}

async function* frames(act: Act, id: string): AsyncIterable<string> {
  const chunk = (delta: JsonObject, reason: string | null): string =>
    frame({ ...envelope(id, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason: reason }] });
  yield chunk({ role: 'assistant', content: '', ...calls(act, id) }, null);
  for await (const piece of pieces(act)) yield chunk({ content: piece }, null);
  yield chunk({}, finish(act));
  yield frame({ ...envelope(id, 'chat.completion.chunk'), choices: [], usage: USAGE });
  yield 'data: [DONE]\n\n';
}
