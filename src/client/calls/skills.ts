import type { AgentCard, Json, Part, SendResult, StandardSchema } from '#protocol';
import { createDataPart, createTextPart, isDataPart } from '#protocol';
import { ClientError } from '../errors/client-error.ts';
import type { InputOf, OutputOf } from './schema.ts';
import { checked } from './schema.ts';
import type { SendHandle, SendOptions } from './send-handle.ts';
import { answerText } from './send-handle.ts';

export interface SkillSchemas<Input extends StandardSchema, Output extends StandardSchema> {
  readonly input?: Input;
  readonly output?: Output;
}

/** A skill as a function: what goes in and comes out is checked, and typed. */
export type SkillFunction<Input extends StandardSchema, Output extends StandardSchema> = (
  input: InputOf<Input>,
  options?: SendOptions,
) => Promise<OutputOf<Output>>;

interface SkillEnv {
  readonly card: AgentCard | undefined;
  readonly send: (parts: readonly Part[], options: SendOptions) => SendHandle;
}

/** No version of A2A lets a caller choose a skill; `metadata.skillId` is how it is told all the same (reference/dialects §3e). */
export function skillFunction<Input extends StandardSchema, Output extends StandardSchema>(
  id: string,
  schemas: SkillSchemas<Input, Output>,
  { card, send }: SkillEnv,
): SkillFunction<Input, Output> {
  checkOffered(id, card);
  return async (input, options = {}) => {
    const value: unknown = schemas.input === undefined ? input : await checked(schemas.input, input, `the input of ${id}`);
    const part = typeof value === 'string' ? createTextPart(value) : createDataPart(value as Json);
    const messageMetadata = { ...options.messageMetadata, skillId: id };
    const answer = valueIn(await send([part], { ...options, messageMetadata }).result(), id);
    return (schemas.output === undefined ? answer : await checked(schemas.output, answer, `the output of ${id}`)) as OutputOf<Output>;
  };
}

function checkOffered(id: string, card: AgentCard | undefined): void {
  const offered = card?.skills ?? [];
  if (offered.length === 0 || offered.some((skill) => skill.id === id)) return;
  throw new ClientError('not-supported', `the agent has no skill ${id}`, { hint: `it has ${offered.map((skill) => skill.id).join(', ')}` });
}

/** The data of an answer; where it has none, its text read as JSON, or as it is. */
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

function unfinished({ task }: SendResult, id: string): ClientError {
  const state = task?.status.state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-') ?? 'unknown';
  const said = task?.status.message === undefined ? '' : answerText({ message: task.status.message });
  return new ClientError('task-failed', `${id} did not complete: ${state}`, {
    ...(said === '' ? {} : { why: said }),
    hint: 'send a message in place of calling the skill to answer questions',
  });
}
