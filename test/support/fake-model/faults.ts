import type { IncomingHttpHeaders } from 'node:http';
import type { Json, JsonObject } from '#protocol';
import type { Asked } from './model.ts';

/** An error response of the fake model. */
export interface Fault {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** How often each prompt was sent. */
export type FaultCounts = Map<string, number>;

/**
 * The error for a request, as OpenAI and Anthropic send it: for the key `wrong-key`, for the model `missing-model`, and for a prompt with
 * `[[fail rate]]`, `[[fail rate-once]]`, `[[fail length]]` or `[[fail busy]]`.
 */
export function faultOf(headers: IncomingHttpHeaders, body: JsonObject, { turns }: Asked, counts: FaultCounts): Fault | undefined {
  const key = headers['x-api-key'] ?? headers.authorization?.replace('Bearer ', '');
  if (key === 'wrong-key') return failed(401, 'authentication_error', 'invalid x-api-key');
  if (body['model'] === 'missing-model') return failed(404, 'not_found_error', 'The model missing-model does not exist');
  const text = turns.findLast(({ role }) => role === 'user')?.text ?? '';
  const [, fault = ''] = /\[\[fail ([\w-]+)\]\]/.exec(text) ?? [];
  const nth = (counts.get(text) ?? 0) + 1;
  counts.set(text, nth);
  switch (fault) {
    case 'rate':
      return { ...failed(429, 'rate_limit_error', 'slow down'), headers: { 'retry-after': '40' } };
    case 'rate-once':
      return nth > 1 ? undefined : { ...failed(429, 'rate_limit_error', 'slow down'), headers: { 'retry-after': '0' } };
    case 'length':
      return failed(400, 'context_length_exceeded', 'prompt is too long: 300000 tokens > 200000 maximum');
    case 'busy':
      return { ...failed(503, 'overloaded_error', 'Overloaded'), headers: { 'retry-after': '60' } };
    default:
      return undefined;
  }
}

/** Whether the prompt wants its answer to end in the middle. */
export function isCut({ turns }: Asked): boolean {
  return turns.findLast(({ role }) => role === 'user')?.text.includes('[[cut]]') === true;
}

function failed(status: number, type: string, message: string): Fault {
  return { status, body: { type: 'error', error: { type, code: type, message } } };
}
