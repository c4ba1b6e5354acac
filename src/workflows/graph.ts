import type { Workflow, WorkflowNode } from './definition.ts';
import { runNode } from './nodes.ts';
import { targetsOf } from './read.ts';
import type { NodeResult, Running } from './running.ts';
import { keep } from './running.ts';

/** Runs every node of the graph when what it waits for is done, side by side where nothing stands in between. */
export async function runGraph(run: Running): Promise<void> {
  const { nodes } = run.workflow;
  const under = new Map<string, Promise<NodeResult | undefined>>();
  const begun = (id: string): Promise<NodeResult | undefined> => {
    const known = under.get(id);
    if (known !== undefined) return known;
    const node = nodes.get(id);
    const running = node === undefined ? Promise.resolve(undefined) : inTurn(run, node, begun);
    under.set(id, running);
    return running;
  };
  // All are waited for also when one throws: a cancelled run ends when the last of its nodes has.
  const settled = await Promise.allSettled(graphNodes(run.workflow).map(begun));
  const thrown = settled.find((one) => one.status === 'rejected');
  if (thrown !== undefined) throw thrown.reason;
}

/** All but those that a map or a loop repeats, and those that are for the end. */
function graphNodes({ nodes, onExit }: Workflow): readonly string[] {
  const inner = [...nodes.values()].flatMap((node) => (node.type === 'map' || node.type === 'loop' ? [node.node] : []));
  const apart = new Set<string>([...inner, ...Object.values(onExit)]);
  return [...nodes.keys()].filter((id) => !apart.has(id));
}

/** Undefined when it was never begun: something before it failed. */
async function inTurn(
  run: Running,
  node: WorkflowNode,
  begun: (id: string) => Promise<NodeResult | undefined>,
): Promise<NodeResult | undefined> {
  const before = await Promise.all(node.dependsOn.map(begun));
  if (before.some((result) => result === undefined || result.status === 'error')) return undefined;
  const known = run.results.get(node.id);
  if (known === undefined && run.isStopping) return undefined;
  const isPassedOver = before.length > 0 && before.every((result, at) => isClosed(run, node, { id: node.dependsOn[at], result }));
  if (known === undefined && isPassedOver) return await keep(run, node.id, node, { status: 'skipped' });
  const result = await runNode(run, node, { path: node.id, more: {} });
  if (result.status === 'error' && run.workflow.failFast) run.isStopping = true;
  return result;
}

/** No way leads to a node from one that was skipped, nor from a switch that chose another. */
function isClosed(
  run: Running,
  node: WorkflowNode,
  { id, result }: { readonly id: string | undefined; readonly result: NodeResult | undefined },
): boolean {
  if (result?.status !== 'success') return true;
  const before = id === undefined ? undefined : run.workflow.nodes.get(id);
  if (before?.type !== 'switch' || !targetsOf(before).includes(node.id)) return false;
  return (result.output as { selected_branch?: string }).selected_branch !== node.id;
}
