import type { Json, JsonObject } from '#protocol';
import type { Act, Asked, Turn } from './model.ts';
import { list, record, text } from './model.ts';
import type { Provider } from './provider.ts';
import { frame, pieces, said } from './provider.ts';

/** Google's Gemini API: `models/{model}:generateContent` and `:streamGenerateContent`. */
export const gemini: Provider = {
  name: 'gemini',
  matches: (path) => /:(stream)?[gG]enerateContent$/.test(path),
  read,
  isStreamed: (_, path) => path.endsWith(':streamGenerateContent'),
  whole: (act) => candidate(partOf(act), true),
  frames,
};

function read(body: JsonObject): Asked {
  const turns = list(body['contents']).flatMap((raw): Turn[] => {
    const { role, parts } = record(raw);
    return list(parts).map((item) => {
      const part = record(item);
      if (part['functionResponse'] !== undefined) return { role: 'tool', text: JSON.stringify(part['functionResponse']) };
      return { role: role === 'model' ? 'model' : 'user', text: text(part['text']) };
    });
  });
  const tools = list(body['tools']).flatMap((raw) =>
    list(record(raw)['functionDeclarations']).map((item) => {
      const { name, parameters, parametersJsonSchema } = record(item);
      return { name: text(name), schema: lowerCased(record(parametersJsonSchema ?? parameters)) };
    }),
  );
  return { turns, tools };
}

/** Gemini's own schemas say `STRING` where JSON Schema says `string`. */
function lowerCased(schema: JsonObject): JsonObject {
  const properties = Object.entries(record(schema['properties'])).map(([name, value]): [string, Json] => {
    const property = record(value);
    return [name, { ...property, type: text(property['type']).toLowerCase() }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

function partOf(act: Act): JsonObject {
  return act.kind === 'call' ? { functionCall: { name: act.tool, args: act.input } } : { text: said(act) };
}

function candidate(part: JsonObject, isLast: boolean): JsonObject {
  return {
    candidates: [{ content: { role: 'model', parts: [part] }, index: 0, ...(isLast ? { finishReason: 'STOP' } : {}) }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: 'gemini-fake',
  };
}

async function* frames(act: Act): AsyncIterable<string> {
  if (act.kind === 'call') {
    yield frame(candidate(partOf(act), true));
    return;
  }
  for await (const piece of pieces(act)) yield frame(candidate({ text: piece }, false));
  yield frame(candidate({ text: '' }, true));
}
