import type { Json, JsonObject } from '#protocol';
import type { Act, Asked, Turn } from './model.ts';
import { list, record, text } from './model.ts';
import type { Provider } from './provider.ts';
import { frame, pieces, said } from './provider.ts';

/** Anthropic's Messages API. */
export const anthropic: Provider = {
  name: 'anthropic',
  matches: (path) => path.endsWith('/v1/messages'),
  read,
  isStreamed: (body) => body['stream'] === true,
  whole: (act, id) => ({
    ...opening(id),
    content: [block(act, id)],
    stop_reason: stop(act),
    usage: { input_tokens: 10, output_tokens: 5 },
  }),
  frames,
};

function read(body: JsonObject): Asked {
  const turns = list(body['messages']).flatMap((raw): Turn[] => {
    const { role, content } = record(raw);
    if (typeof content === 'string') return [{ role: role === 'assistant' ? 'model' : 'user', text: content }];
    return list(content).map((item): Turn => {
      const part = record(item);
      if (part['type'] === 'tool_result') return { role: 'tool', text: JSON.stringify(part['content'] ?? null) };
      return { role: role === 'assistant' ? 'model' : 'user', text: text(part['text']) };
    });
  });
  const tools = list(body['tools']).map((raw) => ({ name: text(record(raw)['name']), schema: record(record(raw)['input_schema']) }));
  return { turns, tools };
}

const MODEL = 'claude-fake';

function opening(id: string): JsonObject {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model: MODEL, content: [], stop_reason: null, stop_sequence: null };
}

function block(act: Act, id: string): Json {
  if (act.kind === 'call') return { type: 'tool_use', id: `toolu_${id}`, name: act.tool, input: act.input };
  return { type: 'text', text: said(act) };
}

function stop(act: Act): string {
  return act.kind === 'call' ? 'tool_use' : 'end_turn';
}

async function* frames(act: Act, id: string): AsyncIterable<string> {
  const send = (type: string, rest: JsonObject): string => frame({ type, ...rest }, type);
  yield send('message_start', { message: { ...opening(id), usage: { input_tokens: 10, output_tokens: 1 } } });
  const empty = act.kind === 'call' ? { type: 'tool_use', id: `toolu_${id}`, name: act.tool, input: {} } : { type: 'text', text: '' };
  yield send('content_block_start', { index: 0, content_block: empty });
  if (act.kind === 'call') {
    yield send('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: JSON.stringify(act.input) } });
  }
  for await (const piece of pieces(act)) yield send('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } });
  yield send('content_block_stop', { index: 0 });
  yield send('message_delta', { delta: { stop_reason: stop(act), stop_sequence: null }, usage: { output_tokens: 5 } });
  yield send('message_stop', {});
}
