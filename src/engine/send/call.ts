import type { Agent, CallContext, SendRequest } from '#protocol';
import type { Owner } from '../ports.ts';
import type { Modes } from '../turns/modes.ts';
import { inputModes, modesOf, outputModes } from '../turns/modes.ts';

/** What a send needs to know about its agent. */
export interface AgentFacts {
  readonly agent: string;
  /** The media types on its card. */
  readonly accepts: Modes;
  readonly produces: Modes;
  /** A repeated message id is a new message (`Agent.repeats`). */
  readonly repeatsAnew: boolean;
  /** A stream stays open while a run waits for an answer, for callers that expect it (`Agent.questionsKeepStream`). */
  readonly questionsKeepStream: boolean;
}

/** The facts of an agent, computed once from its card. */
export function factsOf(
  agent: string,
  { card, repeats, checksInputModes, questionsKeepStream }: Pick<Agent, 'card' | 'repeats' | 'checksInputModes' | 'questionsKeepStream'>,
): AgentFacts {
  const accepts = checksInputModes === true ? modesOf([]) : inputModes(card);
  return {
    agent,
    accepts,
    produces: outputModes(card),
    repeatsAnew: repeats === 'anew',
    questionsKeepStream: questionsKeepStream === true,
  };
}

/** For messages in the operator's name: media types are not checked, and each message is new. */
export function uncheckedFacts(agent: string): AgentFacts {
  return { agent, accepts: modesOf([]), produces: modesOf([]), repeatsAnew: true, questionsKeepStream: false };
}

/** A send or a stream, with everything that is looked up once. */
export interface SendCall {
  readonly request: SendRequest;
  readonly ctx: CallContext;
  readonly facts: AgentFacts;
  readonly owner: Owner;
}
