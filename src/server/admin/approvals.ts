import type { HttpRequest } from '#bindings';
import type { AdminAnswer, AdminService, Mutable } from '#protocol';
import { A2AError, taskId } from '#protocol';
import { type MethodHandlers, objectIn, shown } from './responses.ts';

const PATH = /^\/approvals(?:\/([^/]+))?$/;

/** `/approvals`: questions of agents to people, and their answers. Undefined for another path. */
export function waitingRoutes(admin: AdminService, path: string, request: HttpRequest): MethodHandlers | undefined {
  const match = PATH.exec(path);
  if (match === null) return undefined;
  const [, name] = match;
  if (name === undefined) {
    const isPast = new URLSearchParams(request.query).get('answered') === 'true';
    return { GET: async () => shown(isPast ? { answered: await admin.answered() } : { approvals: await admin.approvals() }) };
  }
  const id = taskId(decodeURIComponent(name));
  return { POST: async () => shown(await admin.answer(id, await answerIn(request))) };
}

/** Reads the answer: a JSON object with `optionId` or `text`. */
async function answerIn(request: HttpRequest): Promise<AdminAnswer> {
  const body = await objectIn(request, 'the answer');
  const answer: Mutable<AdminAnswer> = {};
  for (const member of ['optionId', 'text'] as const) {
    const value = body[member];
    if (typeof value === 'string') answer[member] = value;
    else if (value !== undefined) throw new A2AError('INVALID_PARAMS', `${member} must be a string`, { field: member });
  }
  return answer;
}
