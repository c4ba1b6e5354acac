import type { JsonObject } from '#protocol';
import type { Act, Asked, Turn } from './model.ts';
import { list, record, text } from './model.ts';
import type { Provider } from './provider.ts';
import { frame, pieces, said } from './provider.ts';

/** OpenAI's Responses API. */
export const openaiResponses: Provider = {
  name: 'openai-responses',
  matches: (path) => path.endsWith('/responses'),
  read,
  isStreamed: (body) => body['stream'] === true,
  whole: (act, id) => response(id, 'completed', [item(act, id, said(act))]),
  frames,
};

function read(body: JsonObject): Asked {
  const input = typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : list(body['input']);
  const turns = input.flatMap((raw): Turn[] => {
    const { type, role, content, output } = record(raw);
    if (type === 'function_call_output' || type === 'custom_tool_call_output')
      return [{ role: 'tool', text: JSON.stringify(output ?? '') }];
    if (role === undefined) return [];
    if (typeof content === 'string') return [{ role: role === 'user' ? 'user' : 'model', text: content }];
    return list(content).map((part) => ({ role: role === 'user' ? 'user' : 'model', text: text(record(part)['text']) }));
  });
  const tools = list(body['tools']).flatMap((raw) => {
    const { type, name, parameters } = record(raw);
    return type === 'function' ? [{ name: text(name), schema: record(parameters) }] : [];
  });
  return { turns, tools };
}

function response(id: string, status: string, output: readonly JsonObject[]): JsonObject {
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  return { id: `resp_${id}`, object: 'response', created_at: 1_760_000_000, model: 'fake-model', status, output, usage };
}

function item(act: Act, id: string, words: string): JsonObject {
  if (act.kind === 'call') {
    const call = { id: `fc_${id}`, call_id: `call_${id}`, name: act.tool, arguments: JSON.stringify(act.input) };
    return { type: 'function_call', status: 'completed', ...call };
  }
  const content = [{ type: 'output_text', text: words, annotations: [] }];
  return { type: 'message', id: `msg_${id}`, status: 'completed', role: 'assistant', content };
}

async function* frames(act: Act, id: string): AsyncIterable<string> {
  let sequence = 0;
  const send = (type: string, rest: JsonObject): string => {
    sequence += 1;
    return frame({ type, sequence_number: sequence, ...rest }, type);
  };
  yield send('response.created', { response: response(id, 'in_progress', []) });
  yield send('response.output_item.added', { output_index: 0, item: { ...item(act, id, ''), status: 'in_progress' } });
  let words = '';
  for await (const piece of pieces(act)) {
    words += piece;
    yield send('response.output_text.delta', { item_id: `msg_${id}`, output_index: 0, content_index: 0, delta: piece });
  }
  yield send('response.output_item.done', { output_index: 0, item: item(act, id, words) });
  yield send('response.completed', { response: response(id, 'completed', [item(act, id, words)]) });
}
