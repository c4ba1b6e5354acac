import type { Json, JsonObject } from '#protocol';
import { parseCondition } from './conditions.ts';
import type { ExitNodes, NodeRetry, Workflow, WorkflowNode } from './definition.ts';
import { WorkflowError } from './definition.ts';
import { readNode } from './read-node.ts';
import { boolean, duration, list, member, number, object, text, textIf } from './readers.ts';
import { fromSteps } from './steps.ts';

const NODE_TIMEOUT_MS = 300_000;
const NODES_MAX = 1000;

/**
 * Reads a workflow in its short form (`steps`), in that of Solace Agent Mesh (`nodes`), or the `workflow`
 * member of an app of Solace Agent Mesh. Throws a `WorkflowError` with
 * the path of the first problem.
 *
 * ```ts
 * const workflow = readWorkflow(parse(await readFile('review.yaml', 'utf8')));
 * ```
 */
export function readWorkflow(raw: Json): Workflow {
  const outer = object(raw, '');
  const inner = outer['workflow'] === undefined ? outer : { ...without(outer, 'workflow'), ...object(outer['workflow'], 'workflow') };
  const given = inner['steps'] === undefined ? inner : fromSteps(inner);
  const nodes = nodesOf(given);
  const inputSchema = member(given, 'input_schema', 'inputSchema');
  const outputSchema = member(given, 'output_schema', 'outputSchema');
  const retry = member(given, 'retry_strategy', 'retryStrategy');
  const workflow: Workflow = {
    name: textIf(member(given, 'name', 'agent_name'), 'name') ?? 'workflow',
    description: text(given['description'], 'description'),
    version: textIf(given['version'], 'version') ?? '1.0.0',
    ...(inputSchema === undefined ? {} : { inputSchema: object(inputSchema, 'input_schema') }),
    ...(outputSchema === undefined ? {} : { outputSchema: object(outputSchema, 'output_schema') }),
    nodes,
    output: object(member(given, 'output_mapping', 'outputMapping'), 'output_mapping'),
    onExit: exitOf(member(given, 'on_exit', 'onExit')),
    failFast: boolean(member(given, 'fail_fast', 'failFast'), 'fail_fast') ?? true,
    ...(retry === undefined ? {} : { retry: readRetry(retry, 'retry_strategy') }),
    skills: list(given['skills'] ?? [], 'skills').map((skill, at) => skillOf(skill, `skills[${at}]`)),
    nodeTimeoutMs: (number(member(given, 'default_node_timeout_seconds'), 'default_node_timeout_seconds') ?? NODE_TIMEOUT_MS / 1000) * 1000,
  };
  checkGraph(workflow);
  return workflow;
}

/** Reads a retry policy, in Argo's names or SAM's. */
export function readRetry(raw: Json, path: string): NodeRetry {
  const given = object(raw, path);
  const backoff = object(given['backoff'] ?? {}, `${path}.backoff`);
  const policy = textIf(member(given, 'retry_policy', 'retryPolicy'), `${path}.retry_policy`) ?? 'OnFailure';
  if (policy !== 'Always' && policy !== 'OnFailure' && policy !== 'OnError') {
    throw new WorkflowError(`${path}.retry_policy`, `must be Always, OnFailure or OnError, not ${policy}`);
  }
  return {
    limit: number(given['limit'], `${path}.limit`) ?? 3,
    policy,
    backoffMs: duration(backoff['duration'], `${path}.backoff.duration`) ?? 1000,
    factor: number(backoff['factor'], `${path}.backoff.factor`) ?? 2,
    backoffMsMax: duration(member(backoff, 'max_duration', 'maxDuration'), `${path}.backoff.max_duration`) ?? 300_000,
  };
}

/** Reads the nodes. Throws for two with the same id. */
function nodesOf(given: JsonObject): Map<string, WorkflowNode> {
  const raw = list(given['nodes'], 'nodes');
  if (raw.length === 0 || raw.length > NODES_MAX) throw new WorkflowError('nodes', `must be 1 to ${NODES_MAX} nodes`);
  const nodes = new Map<string, WorkflowNode>();
  for (const [at, one] of raw.entries()) {
    const node = readNode(one, `nodes[${at}]`, readRetry);
    if (nodes.has(node.id)) throw new WorkflowError(`nodes[${at}].id`, `there are two nodes ${node.id}`);
    nodes.set(node.id, node);
  }
  // The node of a case always depends on its switch.
  for (const node of [...nodes.values()]) {
    if (node.type !== 'switch') continue;
    for (const target of targetsOf(node)) {
      const branch = nodes.get(target);
      if (branch !== undefined && !branch.dependsOn.includes(node.id))
        nodes.set(target, { ...branch, dependsOn: [...branch.dependsOn, node.id] });
    }
  }
  return nodes;
}

/** The nodes that run after the end: always, on success, on failure or on cancel. */
function exitOf(raw: Json | undefined): ExitNodes {
  if (raw === undefined) return {};
  if (typeof raw === 'string') return { always: raw };
  const given = object(raw, 'on_exit');
  const pairs = [
    ['always', textIf(given['always'], 'on_exit.always')],
    ['onSuccess', textIf(member(given, 'on_success', 'onSuccess'), 'on_exit.on_success')],
    ['onFailure', textIf(member(given, 'on_failure', 'onFailure'), 'on_exit.on_failure')],
    ['onCancel', textIf(member(given, 'on_cancel', 'onCancel'), 'on_exit.on_cancel')],
  ];
  return Object.fromEntries(pairs.filter(([, node]) => node !== undefined));
}

/** A skill for the agent's card. */
function skillOf(raw: Json, path: string): Workflow['skills'][number] {
  const given = object(raw, path);
  return {
    id: text(given['id'], `${path}.id`),
    name: text(given['name'], `${path}.name`),
    description: text(given['description'], `${path}.description`),
    tags: list(given['tags'] ?? [], `${path}.tags`).map((tag, at) => text(tag, `${path}.tags[${at}]`)),
  };
}

/** The nodes that a switch, a map or a loop starts. */
export function targetsOf(node: WorkflowNode): readonly string[] {
  if (node.type === 'map' || node.type === 'loop') return [node.node];
  if (node.type !== 'switch') return [];
  return [...node.cases.map((one) => one.node), ...(node.otherwise === undefined ? [] : [node.otherwise])];
}

/** Throws for references to unknown nodes and for cycles. */
function checkGraph({ nodes, onExit }: Workflow): void {
  const exits = Object.values(onExit) as readonly string[];
  for (const node of nodes.values()) {
    const unknown = [...node.dependsOn, ...targetsOf(node)].find((id) => !nodes.has(id));
    if (unknown !== undefined) throw new WorkflowError(`node ${node.id}`, `there is no node ${unknown}`);
    if ((node.type === 'map' || node.type === 'loop') && node.node === node.id)
      throw new WorkflowError(`node ${node.id}`, 'a map or loop can’t repeat itself');
    for (const condition of conditionsOf(node)) parseCondition(condition, `node ${node.id}`);
  }
  const missing = exits.find((id) => !nodes.has(id));
  if (missing !== undefined) throw new WorkflowError('on_exit', `there is no node ${missing}`);
  const state = new Map<string, 'open' | 'done'>();
  const visit = (id: string, way: readonly string[]): void => {
    if (state.get(id) === 'done') return;
    if (state.get(id) === 'open')
      throw new WorkflowError('nodes', `the dependencies form a cycle: ${[...way.slice(way.indexOf(id)), id].join(' → ')}`);
    state.set(id, 'open');
    const node = nodes.get(id);
    const inner = node?.type === 'map' || node?.type === 'loop' ? [node.node] : [];
    for (const next of [...(node?.dependsOn ?? []), ...inner]) visit(next, [...way, id]);
    state.set(id, 'done');
  };
  for (const id of nodes.keys()) visit(id, []);
}

function conditionsOf(node: WorkflowNode): readonly string[] {
  const own = node.when === undefined ? [] : [node.when];
  if (node.type === 'switch') return [...own, ...node.cases.map(({ when }) => when)];
  return node.type === 'loop' ? [...own, node.condition] : own;
}

function without(given: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(given).filter(([key]) => key !== name));
}
