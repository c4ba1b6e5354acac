import { isObject } from '#protocol';
import type { Workflow, WorkflowNode } from './definition.ts';
import { runNode } from './nodes.ts';
import { targetsOf } from './read.ts';
import type { NodeResult, Running } from './running.ts';
import { storeResult } from './running.ts';

/**
 * Runs every node of the graph when the nodes that it depends on are done. Independent nodes run
 * concurrently.
 */
export async function runGraph(run: Running): Promise<void> {
  const { nodes } = run.workflow;
  const started = new Map<string, Promise<NodeResult | undefined>>();
  const start = (id: string): Promise<NodeResult | undefined> => {
    const known = started.get(id);
    if (known !== undefined) return known;
    const node = nodes.get(id);
    const running = node === undefined ? Promise.resolve(undefined) : runAfterDependencies(run, node, start);
    started.set(id, running);
    return running;
  };
  // Waits for all nodes even when one throws: a canceled run ends with its last node.
  const settled = await Promise.allSettled(graphNodes(run.workflow).map(start));
  const thrown = settled.find((one) => one.status === 'rejected');
  if (thrown !== undefined) throw thrown.reason;
}

/** All nodes except those that a map or a loop repeats, and exit nodes. */
function graphNodes({ nodes, onExit }: Workflow): readonly string[] {
  const inner = [...nodes.values()].flatMap((node) => (node.type === 'map' || node.type === 'loop' ? [node.node] : []));
  const apart = new Set<string>([...inner, ...Object.values(onExit)]);
  return [...nodes.keys()].filter((id) => !apart.has(id));
}

/** Undefined when the node never starts, because a node before it failed. */
async function runAfterDependencies(
  run: Running,
  node: WorkflowNode,
  start: (id: string) => Promise<NodeResult | undefined>,
): Promise<NodeResult | undefined> {
  const before = await Promise.all(node.dependsOn.map(start));
  if (before.some((result) => result === undefined || result.status === 'error')) return undefined;
  const known = run.results.get(node.id);
  if (known === undefined && run.isStopping) return undefined;
  const isSkipped = before.length > 0 && before.every((result, at) => isBlocked(run, node, { id: node.dependsOn[at], result }));
  if (known === undefined && isSkipped) return await storeResult(run, node.id, node, { status: 'skipped' });
  const result = await runNode(run, node, { path: node.id, more: {} });
  if (result.status === 'error' && run.workflow.failFast) run.isStopping = true;
  return result;
}

/** A dependency that was skipped, or a switch that chose another branch, does not lead to this node. */
function isBlocked(
  run: Running,
  node: WorkflowNode,
  { id, result }: { readonly id: string | undefined; readonly result: NodeResult | undefined },
): boolean {
  if (result?.status !== 'success') return true;
  const before = id === undefined ? undefined : run.workflow.nodes.get(id);
  if (before?.type !== 'switch' || !targetsOf(before).includes(node.id)) return false;
  return isObject(result.output) && result.output['selected_branch'] !== node.id;
}
