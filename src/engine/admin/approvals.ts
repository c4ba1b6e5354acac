import type { AdminAnswer, AdminApproval, AdminService, Message, Part, TaskState } from '#protocol';
import { A2AError, createDataPart, createTextPart, getChoicesFromMessage, isInterrupted, messageId } from '#protocol';
import type { TaskRow } from '../ports.ts';
import { foldTo } from '../read/fold.ts';
import { admit } from '../send/admit.ts';
import type { Served } from '../send/call.ts';
import type { Core } from '../tasks/core.ts';
import { release } from '../tasks/core.ts';
import type { Live } from '../tasks/live-task.ts';
import { modesOf } from '../turns/modes.ts';
import { shown, withAny } from './admin-task.ts';

const APPROVALS_MAX = 100;
const WAITING: readonly TaskState[] = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'];

/** Tasks that wait for a person, whoever owns them: what an operator's inbox shows, and the answers given there. */
export function createWaiting(core: Core): Pick<AdminService, 'approvals' | 'answer'> {
  return {
    approvals: async () => {
      const found = await Promise.all(WAITING.map((state) => core.store.list({ owner: 'any', state, limit: APPROVALS_MAX })));
      const rows = found.flat().sort((one, other) => other.statusAt - one.statusAt);
      const asked = await Promise.all(rows.slice(0, APPROVALS_MAX).map((row) => approvalOf(core, row)));
      return asked.filter((approval) => approval !== undefined);
    },
    answer: (id, answer) => withAny(core, id, (live) => answerTask(core, live, answer)),
  };
}

/** Undefined: it was answered, or deleted, while the list was made. */
async function approvalOf(core: Core, row: TaskRow): Promise<AdminApproval | undefined> {
  try {
    return await withAny(core, row.id, async (live) => {
      const { status } = await foldTo(core, live, live.committed);
      if (!isInterrupted(status.state)) return undefined;
      const { message } = status;
      return {
        ...shown(core, live.row),
        kind: status.state === 'TASK_STATE_AUTH_REQUIRED' ? 'auth' : 'input',
        ...(message === undefined ? {} : { question: message }),
        choices: message === undefined ? [] : getChoicesFromMessage(message),
      };
    });
  } catch (thrown) {
    if (thrown instanceof A2AError && thrown.kind === 'TASK_NOT_FOUND') return undefined;
    throw thrown;
  }
}

async function answerTask(core: Core, live: Live, answer: AdminAnswer): ReturnType<AdminService['answer']> {
  const { id, owner, agent, dialect, contextId } = live.row;
  if (!isInterrupted(live.row.state)) throw new A2AError('UNSUPPORTED_OPERATION', `task ${id} does not wait for an answer`);
  const task = await foldTo(core, live, live.committed);
  const parts = answerParts(answer, task.status.message);
  const message: Message = { messageId: messageId(core.ids.next()), role: 'ROLE_USER', parts, taskId: id, contextId };
  const ctx = { principal: { id: owner.principal, scopes: [] }, dialect, extensions: [], signal: new AbortController().signal };
  const served: Served = { agent, takes: modesOf([]), makes: modesOf([]), repeatsAnew: true };
  const admitted = await admit(core, { request: { message }, ctx, served, owner, traits: core.traitsOf(dialect) });
  try {
    await core.writer.settled();
    return shown(core, admitted.live.row);
  } finally {
    release(core, admitted.live);
  }
}

/** Approvals fail closed: an option that was not offered is refused here already. */
function answerParts({ optionId, text }: AdminAnswer, question: Message | undefined): readonly Part[] {
  if (optionId === undefined) {
    if (text === undefined || text === '') throw new A2AError('INVALID_PARAMS', 'an answer has an optionId or a text');
    return [createTextPart(text)];
  }
  const choices = question === undefined ? [] : getChoicesFromMessage(question);
  if (!choices.some((choice) => choice.optionId === optionId)) {
    const offered = choices.map((choice) => choice.optionId).join(', ') || 'none';
    throw new A2AError('INVALID_PARAMS', `there is no option ${optionId.slice(0, 40)}; offered: ${offered}`, { field: 'optionId' });
  }
  return [createDataPart({ optionId })];
}
