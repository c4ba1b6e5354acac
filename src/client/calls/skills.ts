import type { AgentCard, Json, Part, SendResult, StandardSchema } from '#protocol';
import { createDataPart, createTextPart, isDataPart } from '#protocol';
import { ClientError } from '../errors/client-error.ts';
import type { SendHandle } from './handle.ts';
import { answerText } from './question.ts';
import type { InputOf, OutputOf } from './schema.ts';
import { checked } from './schema.ts';
import type { SendOptions } from './send-options.ts';

/** Schemas of a skill, from any library that supports Standard Schema (zod, valibot, arktype). */
export interface SkillSchemas<Input extends StandardSchema, Output extends StandardSchema> {
  /** Checks the argument before it is sent. */
  readonly input?: Input;
  /** Checks the agent's answer. */
  readonly output?: Output;
}

/** A skill as a function with checked and typed input and output. */
export type SkillFunction<Input extends StandardSchema, Output extends StandardSchema> = (
  input: InputOf<Input>,
  options?: SendOptions,
) => Promise<OutputOf<Output>>;

interface SkillEnv {
  readonly card: AgentCard | undefined;
  readonly send: (parts: readonly Part[], options: SendOptions) => SendHandle;
}

/** No A2A version lets a caller choose a skill. By convention `metadata.skillId` names it (docs/dialects.md). */
export function skillFunction<Input extends StandardSchema, Output extends StandardSchema>(
  id: string,
  schemas: SkillSchemas<Input, Output>,
  { card, send }: SkillEnv,
): SkillFunction<Input, Output> {
  checkOffered(id, card);
  return async (input, options = {}) => {
    const value: unknown = schemas.input === undefined ? input : await checked(schemas.input, input, `the input of ${id}`);
    const part = typeof value === 'string' ? createTextPart(value) : createDataPart(value as Json);
    const answer = valueIn(await send([part], { ...options, skill: id }).result(), id);
    return (schemas.output === undefined ? answer : await checked(schemas.output, answer, `the output of ${id}`)) as OutputOf<Output>;
  };
}

/** Throws if the card has skills, but not this one. */
export function checkOffered(id: string, card: AgentCard | undefined): void {
  const offered = card?.skills ?? [];
  if (offered.length === 0 || offered.some((skill) => skill.id === id)) return;
  throw new ClientError('not-supported', `the agent has no skill ${id}`, { hint: `it has ${offered.map((skill) => skill.id).join(', ')}` });
}

/** The data of an answer. Without data: its text, parsed as JSON where possible. */
function valueIn(result: SendResult, id: string): unknown {
  const { task, message } = result;
  if (task !== undefined && task.status.state !== 'TASK_STATE_COMPLETED') throw unfinished(result, id);
  const parts = message?.parts ?? [
    ...(task?.artifacts ?? []).flatMap((artifact) => artifact.parts),
    ...(task?.status.message?.parts ?? []),
  ];
  const data = parts.find(isDataPart);
  if (data !== undefined) return data.data;
  const text = answerText(result);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The error for a task that did not complete, with the agent's last message as the reason. */
function unfinished({ task }: SendResult, id: string): ClientError {
  const state = task?.status.state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-') ?? 'unknown';
  const said = task?.status.message === undefined ? '' : answerText({ message: task.status.message });
  return new ClientError('task-failed', `${id} did not complete: ${state}`, {
    ...(said === '' ? {} : { why: said }),
    hint: 'to answer questions, send a message instead of calling the skill',
  });
}
