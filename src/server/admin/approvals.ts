import type { HttpRequest } from '#bindings';
import type { AdminAnswer, AdminService, Mutable } from '#protocol';
import { A2AError, taskId } from '#protocol';
import { type MethodHandlers, shown } from './responses.ts';

const PATH = /^\/approvals(?:\/([^/]+))?$/;
const ANSWER_BYTES_MAX = 65_536;

/** `/approvals`: questions of agents to people, and their answers. Undefined for another path. */
export function waitingRoutes(admin: AdminService, path: string, request: HttpRequest): MethodHandlers | undefined {
  const match = PATH.exec(path);
  if (match === null) return undefined;
  const [, name] = match;
  if (name === undefined) return { GET: async () => shown({ approvals: await admin.approvals() }) };
  const id = taskId(decodeURIComponent(name));
  return { POST: async () => shown(await admin.answer(id, await answerIn(request))) };
}

/** Reads the answer: a JSON object with `optionId` or `text`. */
async function answerIn(request: HttpRequest): Promise<AdminAnswer> {
  const text = new TextDecoder().decode(await request.body(ANSWER_BYTES_MAX));
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new A2AError('PARSE_ERROR', 'the answer is not JSON', { cause });
  }
  if (typeof body !== 'object' || body === null) throw new A2AError('INVALID_PARAMS', 'an answer must be an object');
  const answer: Mutable<AdminAnswer> = {};
  for (const member of ['optionId', 'text'] as const) {
    const value = (body as Readonly<Record<string, unknown>>)[member];
    if (typeof value === 'string') answer[member] = value;
    else if (value !== undefined) throw new A2AError('INVALID_PARAMS', `${member} must be a string`, { field: member });
  }
  return answer;
}
