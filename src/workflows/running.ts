import type { A2AService, AgentOutput, Json, JsonObject, Task, Turn } from '#protocol';
import { artifactId, createAgentPartsMessage, createDataPart, createTextPart, isDataPart } from '#protocol';
import type { Channel } from './channel.ts';
import type { Workflow, WorkflowNode } from './definition.ts';
import type { Scope } from './templates.ts';

/** Finds an agent, or a workflow published as one, by its name. */
export type FindAgent = (name: string) => A2AService | undefined | Promise<A2AService | undefined>;

/** What is wrong with a value by its JSON Schema; undefined when nothing is. */
export type Validate = (schema: JsonObject, value: Json) => string | undefined;

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
  readonly findAgent: FindAgent;
  readonly validate: Validate;
  readonly out: Channel<AgentOutput>;
  /** By path: `check`, `each[3]`, `again#2`. Those of an earlier attempt are here from the start. */
  readonly results: Map<string, NodeResult>;
  /** A node has failed and nothing new is to be begun. */
  isStopping: boolean;
  /** One question at a time is asked upward. */
  asking: Promise<unknown>;
}

/** A finished node is an artifact of the workflow's task: it is in the log, and a restart finds it there. */
const NODE_ARTIFACT = 'node:';

export function resultsIn(task: Task): Map<string, NodeResult> {
  const found = new Map<string, NodeResult>();
  for (const { artifactId: id, parts } of task.artifacts ?? []) {
    const part = parts.find(isDataPart);
    if (id.startsWith(NODE_ARTIFACT) && part !== undefined) found.set(id.slice(NODE_ARTIFACT.length), part.data as unknown as NodeResult);
  }
  return found;
}

/** Keeps a result. When it returns the result is on disk, so what follows from it may begin. */
export async function keep(run: Running, path: string, node: WorkflowNode, result: NodeResult): Promise<NodeResult> {
  run.results.set(path, result);
  const id = artifactId(`${NODE_ARTIFACT}${path}`);
  const metadata = { workflowNode: node.id, status: result.status };
  await run.out.send({ kind: 'artifact', id, name: path, parts: [createDataPart(result as unknown as Json)], last: true, metadata });
  await tell(run, `${path}: ${result.status === 'error' ? `failed: ${result.error}` : result.status}`, {
    type: 'workflow_node_execution_result',
    node_id: node.id,
    path,
    status: result.status,
    ...(result.status === 'error' ? { error_message: result.error } : {}),
  });
  await run.turn.durable();
  return result;
}

/** A progress note: words for people, and the signal that Solace Agent Mesh's clients draw from. */
export async function tell(run: Running, words: string, signal: JsonObject): Promise<void> {
  await run.out.send({ kind: 'status', message: createAgentPartsMessage([createTextPart(words), createDataPart(signal)]) });
}

/** What the templates of a node see. What has not run, or was skipped, has no output. */
export function scopeOf(run: Running, more: Readonly<Record<string, Json>> = {}): Scope {
  const scope = new Map<string, Json>([['workflow', { input: run.input }]]);
  for (const id of run.workflow.nodes.keys()) {
    const result = run.results.get(id);
    scope.set(id, { output: result?.status === 'success' ? result.output : null, status: result?.status ?? null });
  }
  for (const [name, value] of Object.entries(more)) scope.set(name, value);
  return scope;
}
