import { createHash } from 'node:crypto';
import type { Choice, Json, Message, Turn } from '#protocol';
import {
  canonicalJson,
  choiceIn,
  createAgentPartsMessage,
  createDataPart,
  createTextPart,
  getChoicesFromMessage,
  isDataPart,
  linkSignals,
} from '#protocol';
import { stripAnsi } from '../process/ansi.ts';
import { compact, isJsonObject } from '../process/json-line.ts';
import { clipJson, oneLine } from './clip.ts';
import type { Approval } from './events.ts';
import type { ApprovalPolicy } from './policy.ts';
import { decide } from './policy.ts';

/** How a request was decided, for the caller to see. */
export interface Settled {
  readonly isAllowed: boolean;
  /** Undefined: the caller decided. */
  readonly note?: string;
}

/** What decides a permission request. */
export interface ApprovalOptions {
  readonly policy: ApprovalPolicy;
  readonly folder: string;
  /** A request without an answer is denied after this time. */
  readonly approvalMs: number;
  /** Fingerprints of requests that the caller allowed before a restart. Each is valid once. */
  readonly granted: Set<string>;
}

const TITLE_CHARACTERS = 500;
const INPUT_CHARACTERS = 4096;

/**
 * Answers the agent's request by policy, by an answer from before a restart, or by asking the caller.
 */
export async function settle(turn: Turn, approval: Approval, options: ApprovalOptions): Promise<Settled> {
  const decision = decide(options.policy, approval, options.folder);
  const title = titleFor(approval);
  if (decision !== 'ask') {
    answer(approval, decision === 'allow');
    return { isAllowed: decision === 'allow', note: decision === 'allow' ? `Allowed by policy: ${title}` : `Denied by policy: ${title}` };
  }
  if (options.granted.delete(fingerprint(approval))) {
    answer(approval, true);
    return { isAllowed: true, note: `Allowed as answered before the restart: ${title}` };
  }
  return await askCaller(turn, approval, options.approvalMs);
}

/** Asks until one of the options is chosen, the time is over, or the agent withdraws its request. */
async function askCaller(turn: Turn, approval: Approval, approvalMs: number): Promise<Settled> {
  const asking = linkSignals([approval.withdrawn], approvalMs);
  const { signal } = asking;
  let isRepeated = false;
  try {
    for (;;) {
      const reply = await turn.ask(questionFor(approval, isRepeated), { signal });
      const optionId = optionIn(reply, approval);
      if (optionId !== undefined) {
        approval.answer(optionId);
        return { isAllowed: allows(approval.options, optionId) };
      }
      isRepeated = true;
    }
  } catch (thrown) {
    // In a stopped turn nothing was chosen, which agents distinguish from a no.
    if (turn.signal.aborted) approval.answer(undefined);
    else answer(approval, false);
    if (turn.signal.aborted || !signal.aborted) throw thrown;
    const why = asking.isLate ? 'Nobody answered in time, so it was denied' : 'The agent no longer asks';
    return { isAllowed: false, note: `${why}: ${titleFor(approval)}` };
  } finally {
    asking.release();
  }
}

/**
 * The option that an answer chooses for this request. An answer that names another request chooses
 * none.
 */
function optionIn(reply: Message, { id, options }: Approval): string | undefined {
  const named = reply.parts.find((part) => isDataPart(part) && isJsonObject(part.data) && part.data['requestId'] !== undefined);
  if (named !== undefined && isDataPart(named) && isJsonObject(named.data) && named.data['requestId'] !== id) return undefined;
  return choiceIn(reply, options);
}

/**
 * Chooses the narrowest option of that kind. If none rejects, the agent learns that nothing was chosen.
 */
function answer({ options, answer: give }: Approval, isAllowed: boolean): void {
  const kinds: readonly Choice['kind'][] = isAllowed ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  give(kinds.map((kind) => options.find((option) => option.kind === kind)).find((option) => option !== undefined)?.optionId);
}

function allows(options: readonly Choice[], id: string): boolean {
  return options.find(({ optionId }) => optionId === id)?.kind?.startsWith('allow') ?? false;
}

/** Some agents show a request in the words of their model, so the actual command is shown beside it. */
function titleFor({ title, input, paths = [] }: Approval): string {
  const command = isJsonObject(input) && typeof input['command'] === 'string' ? input['command'] : undefined;
  const really = [...(command === undefined ? paths : [command])].filter((each) => !title.includes(each));
  return oneLine(stripAnsi([title, ...really].join(': ')), TITLE_CHARACTERS);
}

/**
 * The question `Approve: <line>?`, as coding-agent-a2a asks it, with a data part that holds everything
 * that a program needs to decide and to answer.
 */
function questionFor(approval: Approval, isRepeated: boolean): Message {
  const { id, tool, toolKind, input, paths, options } = approval;
  const title = titleFor(approval);
  const names = options.map(({ name }) => name).join(', ');
  const words = `${isRepeated ? 'That was none of the options. ' : ''}Approve: ${title}? Answer y or n, or one of: ${names}.`;
  const data = compact({
    ...{ type: 'approval_required', requestId: id, tool, kind: toolKind, title },
    input: input === undefined ? undefined : clipJson(input, INPUT_CHARACTERS),
    ...(paths === undefined || paths.length === 0 ? {} : { paths }),
    fingerprint: fingerprint(approval),
    options: options.map((option) => compact({ ...option })),
  });
  return createAgentPartsMessage([createTextPart(words), createDataPart(data)]);
}

/**
 * Identifies the action, so that an approval survives a restart and never applies to another action.
 */
function fingerprint({ tool, title, input }: Approval): string {
  const text = canonicalJson(compact({ tool, title, input }));
  return createHash('sha256').update(text).digest('base64url');
}

/** The answer to a question of an earlier run, which ended before it got the answer. */
export interface LateAnswer {
  readonly title: string;
  readonly fingerprint: string;
  /** Undefined: the answer chose none of the options. */
  readonly isAllowed: boolean | undefined;
  readonly question: Message;
}

/** Undefined: this turn's message is not an answer. */
export function lateAnswerIn({ history, message }: Turn): LateAnswer | undefined {
  const question = history.at(-1);
  if (question?.role !== 'ROLE_AGENT') return undefined;
  const asked = question.parts
    .map((part): Json => (isDataPart(part) ? part.data : null))
    .find((data) => isJsonObject(data) && data['type'] === 'approval_required');
  if (!isJsonObject(asked)) return undefined;
  const options = getChoicesFromMessage(question);
  const optionId = choiceIn(message, options);
  return {
    title: typeof asked['title'] === 'string' ? asked['title'] : '',
    fingerprint: typeof asked['fingerprint'] === 'string' ? asked['fingerprint'] : '',
    isAllowed: optionId === undefined ? undefined : allows(options, optionId),
    question,
  };
}
