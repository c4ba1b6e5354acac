import type { Json, JsonObject, Message, Part, Task } from '#protocol';
import { base64ToBytes, isObject, parseJson } from '#protocol';
import { toBytes } from '../../artifacts/parts.ts';
import type { ArtifactOwner, ArtifactService } from '../../artifacts/service.ts';
import { answerParts } from './answer.ts';

/**
 * A request of a node of SAM's workflow engine. Its answer is a JSON file in the shared artifact store,
 * named by a data part (docs/dialects/sam.md, "Structured invocation").
 */
export interface StructuredInvocation {
  readonly node: string;
  readonly workflow: string;
  /** The name of the file for the output. */
  readonly output: string;
}

const REQUEST = 'structured_invocation_request';
const RESULT = 'structured_invocation_result';
const JSON_FILE = 'application/json';

/** The invocation that a message asks for. Undefined for ordinary messages. */
export function invocationIn({ parts }: Message): StructuredInvocation | undefined {
  const request = parts.map(requestIn).find((found) => found !== undefined);
  if (request === undefined) return undefined;
  const { node_id: node, workflow_name: workflow, suggested_output_filename: output } = request;
  const name = textOr(node, 'node');
  return { node: name, workflow: textOr(workflow, 'workflow'), output: textOr(output, `${name}_output.json`) };
}

function textOr(value: Json | undefined, instead: string): string {
  return typeof value === 'string' && value !== '' ? value : instead;
}

function requestIn({ data }: Part): JsonObject | undefined {
  return isObject(data) && data['type'] === REQUEST ? data : undefined;
}

/**
 * The message for the agent: without SAM's own part and its reminder to a language model, and with the
 * input file as data.
 */
export async function invokedMessage(message: Message, owner: ArtifactOwner, artifacts: ArtifactService | undefined): Promise<Message> {
  const own = message.parts.filter((part) => requestIn(part) === undefined && part.text?.includes('«result:') !== true);
  const loaded = artifacts === undefined ? own : await toBytes(artifacts, owner, own);
  return { ...message, parts: loaded.map(asData) };
}

function asData(part: Part): Part {
  if (part.raw === undefined || part.mediaType !== JSON_FILE) return part;
  const data = jsonIn(new TextDecoder().decode(base64ToBytes(part.raw)));
  return data === undefined ? part : { data };
}

/** The task with the result that a workflow node waits for. The output is stored once. */
export async function invocationAnswer(
  task: Task,
  { node, workflow, output }: StructuredInvocation,
  { owner, artifacts }: { readonly owner: ArtifactOwner; readonly artifacts: ArtifactService | undefined },
): Promise<Task> {
  const result = await resultOf(task);
  const isSuccess = result['status'] === 'success';
  const { message } = task.status;
  return {
    ...task,
    status: {
      ...task.status,
      ...(task.status.state === 'TASK_STATE_COMPLETED' && !isSuccess ? { state: 'TASK_STATE_FAILED' } : {}),
      ...(message === undefined ? {} : { message: { ...message, parts: [{ data: result }] } }),
    },
    metadata: { ...task.metadata, workflow_node_id: node, workflow_name: workflow },
  };

  async function resultOf(finished: Task): Promise<JsonObject> {
    const parts = answerParts(finished);
    if (finished.status.state !== 'TASK_STATE_COMPLETED') return failure(textIn(parts));
    if (artifacts === undefined) return failure('this agent has no artifact store: start it with --artifacts and --artifacts-layout sam');
    const content = new TextEncoder().encode(JSON.stringify(outputIn(parts)));
    const saved = await artifacts.keep(owner, { name: output, content, mediaType: JSON_FILE });
    return { type: RESULT, status: 'success', output_artifact_ref: { name: saved.name, version: saved.version }, retry_count: 0 };
  }
}

function failure(reason: string): JsonObject {
  return { type: RESULT, status: 'error', error_message: reason === '' ? 'the agent gave no reason' : reason, retry_count: 0 };
}

/** The agent's data, or its text as JSON, or the text itself. */
function outputIn(parts: readonly Part[]): Json {
  const data = parts.find((part) => part.data !== undefined && isObject(part.data))?.data;
  if (data !== undefined) return data;
  const text = textIn(parts);
  const read = jsonIn(text);
  return isObject(read) ? read : { text };
}

function textIn(parts: readonly Part[]): string {
  return parts.map(({ text }) => text ?? '').join('');
}

function jsonIn(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
