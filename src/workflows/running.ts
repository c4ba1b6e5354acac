import type { A2AService, AgentOutput, Json, JsonObject, Task, Turn } from '#protocol';
import { artifactId, createAgentPartsMessage, createDataPart, createTextPart, isDataPart, jsonOf } from '#protocol';
import type { OutputChannel } from './channel.ts';
import type { Workflow, WorkflowNode } from './definition.ts';
import type { TemplateScope } from './templates.ts';

/** Finds an agent, or a workflow that is published as one, by its name. */
export type FindWorkflowAgent = (name: string) => A2AService | undefined | Promise<A2AService | undefined>;

/** Returns why a value does not match a JSON Schema, or undefined. */
export type Validate = (schema: JsonObject, value: Json) => string | undefined;

/** The result of a node. `skipped`: its condition was false, or a switch chose another node. */
export type NodeResult =
  | { readonly status: 'success'; readonly output: Json }
  | { readonly status: 'skipped' }
  | { readonly status: 'error'; readonly error: string };

/** One execution of a workflow. */
export interface Running {
  readonly workflow: Workflow;
  readonly input: JsonObject;
  readonly turn: Turn;
  readonly signal: AbortSignal;
  readonly findAgent: FindWorkflowAgent;
  readonly validate: Validate;
  readonly out: OutputChannel<AgentOutput>;
  /** By path: `check`, `each[3]`, `again#2`. Contains the results of a run before a restart. */
  readonly results: Map<string, NodeResult>;
  /** By path: the task of the agent that the node called last. */
  readonly tasks: Map<string, string>;
  /** A node has failed, and no new node starts. */
  isStopping: boolean;
  /** The question that is being asked: only one at a time. */
  asking: Promise<unknown>;
}

/** A finished node is an artifact of the workflow's task, so that a restart finds it in the log. */
const NODE_ARTIFACT = 'node:';

/** The results that an interrupted run stored in its task. */
export function resultsIn(task: Task): Map<string, NodeResult> {
  const found = new Map<string, NodeResult>();
  for (const { artifactId: id, parts } of task.artifacts ?? []) {
    const part = parts.find(isDataPart);
    if (id.startsWith(NODE_ARTIFACT) && part !== undefined) found.set(id.slice(NODE_ARTIFACT.length), part.data as unknown as NodeResult);
  }
  return found;
}

/** Stores a result. It is on disk when this returns, so the next nodes may start. */
export async function storeResult(run: Running, path: string, node: WorkflowNode, result: NodeResult): Promise<NodeResult> {
  run.results.set(path, result);
  const id = artifactId(`${NODE_ARTIFACT}${path}`);
  const metadata = { workflowNode: node.id, status: result.status };
  await run.out.send({ kind: 'artifact', id, name: path, parts: [createDataPart(jsonOf(result))], last: true, metadata });
  const taskId = run.tasks.get(path);
  await report(run, `${path}: ${result.status === 'error' ? `failed: ${result.error}` : result.status}`, {
    type: 'workflow_node_execution_result',
    node_id: node.id,
    path,
    status: result.status,
    ...(result.status === 'error' ? { error_message: result.error } : {}),
    ...(taskId === undefined ? {} : { sub_task_id: taskId }),
  });
  await run.turn.durable();
  return result;
}

/** Sends a progress note: a text for people, and the data that clients of Solace Agent Mesh display. */
export async function report(run: Running, text: string, signal: JsonObject): Promise<void> {
  await run.out.send({ kind: 'status', message: createAgentPartsMessage([createTextPart(text), createDataPart(signal)]) });
}

/**
 * The values that a node's templates can name. A node that was skipped or has not run has no output.
 */
export function scopeOf(run: Running, more: Readonly<Record<string, Json>> = {}): TemplateScope {
  const scope = new Map<string, Json>([['workflow', { input: run.input }]]);
  for (const id of run.workflow.nodes.keys()) {
    const result = run.results.get(id);
    scope.set(id, { output: result?.status === 'success' ? result.output : null, status: result?.status ?? null });
  }
  for (const [name, value] of Object.entries(more)) scope.set(name, value);
  return scope;
}
