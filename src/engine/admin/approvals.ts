import type { AdminAnswer, AdminAnswered, AdminApproval, AdminService, CallContext, Message, Part, TaskState, TaskStatus } from '#protocol';
import { A2AError, createDataPart, createTextPart, getChoicesFromMessage, isInterrupted, jsonChars, messageId, NO_EVENT } from '#protocol';
import { checkServed } from '../agents.ts';
import type { SemanticsOf, Store, TaskRow, TaskScope } from '../ports.ts';
import { foldStored, foldTo } from '../read/fold.ts';
import { admit } from '../send/admit.ts';
import { uncheckedFacts } from '../send/call.ts';
import type { SendParts } from '../send/send.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import { adminTask, withTaskIn } from './rows.ts';

/** What the operators' inbox needs of the engine. */
export interface ApprovalParts extends SendParts {
  readonly store: SendParts['store'] & Pick<Store, 'list' | 'entries'>;
  readonly semanticsOf: SemanticsOf;
  /** Whose tasks the operator may see. */
  readonly scope: TaskScope;
}

const APPROVALS_MAX = 100;
const ANSWERED_AMONG = 50;
const ENTRIES_MAX = 1000;
const WAITING: readonly TaskState[] = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'];

/** Tasks of the scope that wait for a person, for an operator's inbox, and the answers given there. */
export function createApprovals(parts: ApprovalParts): Pick<AdminService, 'approvals' | 'answered' | 'answer'> {
  return {
    approvals: async () => {
      const found = await Promise.all(WAITING.map((state) => parts.store.list({ owner: parts.scope, state, limit: APPROVALS_MAX })));
      const rows = found.flat().sort((one, other) => other.statusAt - one.statusAt);
      const asked: AdminApproval[] = [];
      let bytes = 0;
      for (const row of rows.slice(0, APPROVALS_MAX)) {
        const approval = await approvalOf(parts, row);
        if (approval === undefined) continue;
        bytes += jsonChars(approval, Number.MAX_SAFE_INTEGER);
        if (asked.length > 0 && bytes > parts.limits.pageBytesMax) break;
        asked.push(approval);
      }
      return asked;
    },
    answered: async () => {
      const rows = await parts.store.list({ owner: parts.scope, limit: ANSWERED_AMONG });
      const found = await Promise.all(rows.map((row) => answeredIn(parts, row)));
      return found.flat().sort((one, other) => Date.parse(other.answeredAt) - Date.parse(one.answeredAt));
    },
    answer: (id, answer) => withTaskIn(parts, id, (task) => answerTask(parts, task, answer)),
  };
}

/** The answered questions in the first entries of a task's log. */
async function answeredIn({ store }: ApprovalParts, { key, id, agent, owner, contextId }: TaskRow): Promise<readonly AdminAnswered[]> {
  const out: AdminAnswered[] = [];
  let asked: TaskStatus | undefined;
  for (const { event, input } of await store.entries(key, { after: NO_EVENT, limit: ENTRIES_MAX, only: 'words' })) {
    const status = event.statusUpdate?.status ?? event.task?.status;
    const [askedAt, answeredAt] = [asked?.timestamp, status?.timestamp];
    if (asked !== undefined && input !== undefined && askedAt !== undefined && answeredAt !== undefined) {
      const question = asked.message === undefined ? {} : { question: asked.message };
      out.push({ id, agent, principal: owner.principal, contextId, ...question, answer: input, askedAt, answeredAt });
    }
    if (status !== undefined) asked = isInterrupted(status.state) ? status : undefined;
  }
  return out;
}

/** Undefined: the task was answered or deleted meanwhile. */
async function approvalOf(parts: ApprovalParts, row: TaskRow): Promise<AdminApproval | undefined> {
  try {
    return await withTaskIn(
      parts,
      row.id,
      async (task) => {
        // Without artifacts: an inbox of tasks with large ones is read every few seconds.
        const { key, bytes } = task.row;
        const folded = await foldStored(parts, { key, last: task.committed, bytes, only: 'words' });
        if (folded === undefined || !isInterrupted(folded.status.state)) return undefined;
        const { status } = folded;
        const { message } = status;
        return {
          ...adminTask(parts.tasks, task.row),
          kind: status.state === 'TASK_STATE_AUTH_REQUIRED' ? 'auth' : 'input',
          ...(message === undefined ? {} : { question: message }),
          choices: message === undefined ? [] : getChoicesFromMessage(message),
        };
      },
      'read',
    );
  } catch (thrown) {
    if (thrown instanceof A2AError && thrown.kind === 'TASK_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/** Answers in the name of the task's owner, as if that caller had sent the message. */
async function answerTask(parts: ApprovalParts, task: LiveTask, answer: AdminAnswer): ReturnType<AdminService['answer']> {
  const { id, owner, agent, dialect, contextId } = task.row;
  checkServed(parts.agents, agent);
  if (!isInterrupted(task.row.state)) throw new A2AError('UNSUPPORTED_OPERATION', `task ${id} does not wait for an answer`);
  const folded = await foldTo(parts, task, task.committed);
  const content = answerParts(answer, folded.status.message);
  const message: Message = { messageId: messageId(parts.ids.next()), role: 'ROLE_USER', parts: content, taskId: id, contextId };
  const { signal } = new AbortController();
  const semantics = parts.semanticsOf(dialect);
  const ctx: CallContext = { principal: { id: owner.principal, scopes: [] }, dialect, semantics, extensions: [], signal };
  const accepted = await admit(parts, { request: { message }, ctx, facts: uncheckedFacts(agent), owner });
  try {
    await parts.commits.settled('request', accepted.task.row);
    return adminTask(parts.tasks, accepted.task.row);
  } finally {
    accepted.task.release();
  }
}

/** Approvals fail closed: an option that the agent did not offer is refused here already. */
function answerParts({ optionId, text }: AdminAnswer, question: Message | undefined): readonly Part[] {
  if (optionId === undefined) {
    if (text === undefined || text === '') throw new A2AError('INVALID_PARAMS', 'an answer needs an optionId or a text');
    return [createTextPart(text)];
  }
  const choices = question === undefined ? [] : getChoicesFromMessage(question);
  if (!choices.some((choice) => choice.optionId === optionId)) {
    const offered = choices.map((choice) => choice.optionId).join(', ') || 'none';
    throw new A2AError('INVALID_PARAMS', `there is no option ${optionId.slice(0, 40)}; offered: ${offered}`, { field: 'optionId' });
  }
  return [createDataPart({ optionId })];
}
