import type { ContextId, DataPart, FilePart, Json, Message, Part, Principal, SurfaceAction, Task, TraceContext, Turn } from '#protocol';
import {
  choiceIn,
  getChoicesFromMessage,
  getFilePartsFromMessage,
  getTextFromMessage,
  getToolResultFromMessage,
  isDataPart,
  surfaceActionIn,
} from '#protocol';
import type { AgentConversation } from './conversation.ts';
import type { AskOptions, Content } from './outputs.ts';
import { questionMessage } from './outputs.ts';
import type { SkillDefinition, SkillInput } from './skills.ts';

/** The content of a message, ready to use. */
export interface MessageContent {
  /** The whole message. */
  readonly message: Message;
  /** All parts, in order. */
  readonly parts: readonly Part[];
  /** All its text parts, joined by newlines. */
  readonly text: string;
  /**
   * The content of its first data part; without one, the result of a tool that a PromptKit client ran.
   */
  readonly data: Json | undefined;
  /** Its file parts, as bytes or links. */
  readonly files: readonly FilePart[];
  /** The user's action on a surface, if the message is one. */
  readonly action: SurfaceAction | undefined;
}

/** The answer to a question. */
export interface Answer extends MessageContent {
  /**
   * The option that it chooses; undefined if it is none of them, or if none were offered. Where options
   * have a `kind`, the same question is asked again until one is chosen.
   */
  readonly option: string | undefined;
}

/**
 * One message to the agent, with its context. It may answer a question with which an earlier run ended.
 */
export interface BaseTurn<Opened> extends Answer {
  /** The task with this message added. */
  readonly task: Task;
  /** Id of the conversation. */
  readonly contextId: ContextId;
  /** Earlier messages of the task, oldest first. `conversation` gives those of earlier tasks too. */
  readonly history: readonly Message[];
  /** The authenticated caller. */
  readonly principal: Principal;
  /** The value that `open` returned for this context. */
  readonly opened: Opened;
  /** Media types that the caller accepts. Empty: all. */
  readonly acceptedOutputModes: readonly string[];
  /** Counts from 1; more than 1 only after a crash, under recovery `retry` or `resume`. */
  readonly attempt: number;
  /** The caller's trace, for calls that the agent makes. */
  readonly trace: TraceContext | undefined;
  /** Fires on cancel, on a timeout and on shutdown. Pass it to long operations. */
  readonly signal: AbortSignal;
  /**
   * The messages and answers of this context before this message, also of earlier tasks and after a restart. Read
   * from disk when it is called; an agent that does not call it pays nothing. `defineAgent`'s
   * `conversation` limits it. A direct answer made with `message()` has no task and is not part of it.
   *
   * ```ts
   * const { messages } = await turn.conversation();
   * ```
   */
  conversation(): Promise<AgentConversation>;
  /**
   * Asks the caller and waits for the answer within the run. The task is input-required meanwhile.
   *
   * ```ts
   * const answer = await turn.ask('Which branch?', { options: ['main', 'next'] });
   * ```
   */
  ask(question: Content, options?: AskOptions): Promise<Answer>;
  /**
   * Resolves when all outputs so far are on disk. Await it before an external effect, so that a crash
   * after it leaves a record. Rejects if the run is stopped meanwhile.
   */
  durable(): Promise<void>;
}

type SkillTurn<Skill extends SkillDefinition> = Skill extends SkillDefinition
  ? { readonly skill: Skill['id']; readonly input: SkillInput<Skill> }
  : never;
interface NoSkill {
  readonly skill: undefined;
  readonly input: undefined;
}
/** Only an agent with one skill always knows the skill: with several, a caller may name none. */
type SkillChoice<Skills extends readonly SkillDefinition[]> = Skills extends readonly []
  ? NoSkill
  : Skills extends readonly [infer Only extends SkillDefinition]
    ? SkillTurn<Only>
    : SkillTurn<Skills[number]> | NoSkill;

/**
 * The argument of `run`. `turn.skill === 'id'` narrows `turn.input` to the result type of that skill's
 * schema.
 */
export type AgentTurn<Opened = undefined, Skills extends readonly SkillDefinition[] = readonly []> = BaseTurn<Opened> & SkillChoice<Skills>;

/** Parses a message into text, data and files. */
export function said(message: Message): MessageContent {
  return {
    message,
    parts: message.parts,
    text: getTextFromMessage(message),
    data: message.parts.find((part): part is DataPart => isDataPart(part))?.data ?? getToolResultFromMessage(message),
    files: getFilePartsFromMessage(message),
    action: surfaceActionIn(message),
  };
}

/** The answer to a question, with the option that it chooses. */
export function answerTo(question: Message | undefined, message: Message): Answer {
  return { ...said(message), option: optionIn(question, message) };
}

function optionIn(question: Message | undefined, message: Message): string | undefined {
  return question === undefined ? undefined : choiceIn(message, getChoicesFromMessage(question));
}

/** Its options allow or reject something. */
function isApproval(question: Message): boolean {
  return getChoicesFromMessage(question).some(({ kind }) => kind !== undefined);
}

/** The approval that the run before ended with, if this turn's message chooses none of its options. */
export function unansweredApproval({ history, message }: Pick<Turn, 'history' | 'message'>): Message | undefined {
  const asked = history.at(-1);
  if (asked?.role !== 'ROLE_AGENT' || !isApproval(asked)) return undefined;
  return choiceIn(message, getChoicesFromMessage(asked)) === undefined ? asked : undefined;
}

/** What `define.ts` adds to a turn. */
interface AddedToTurn {
  readonly conversation: () => Promise<AgentConversation>;
  readonly skill: string | undefined;
  readonly input: unknown;
}

/** The turn for `run`. One literal: an object that is spread together costs several times as much. */
export function agentTurn(turn: Turn, { conversation, skill, input }: AddedToTurn): BaseTurn<unknown> & Omit<AddedToTurn, 'conversation'> {
  const { task, contextId, history, principal, opened, acceptedOutputModes, attempt, trace, signal, durable } = turn;
  const asked = history.findLast((message) => message.role === 'ROLE_AGENT');
  const { message, parts, text, data, files, action } = said(turn.message);
  return {
    message,
    parts,
    text,
    data,
    files,
    action,
    option: optionIn(asked, message),
    task,
    contextId,
    history,
    principal,
    opened,
    acceptedOutputModes,
    attempt,
    trace,
    signal,
    skill,
    input,
    durable,
    conversation,
    ask: async (content, options = {}) => {
      const question = questionMessage(content, options);
      for (;;) {
        const answer = answerTo(question, await turn.ask(question));
        if (answer.option !== undefined || !isApproval(question)) return answer;
      }
    },
  };
}
