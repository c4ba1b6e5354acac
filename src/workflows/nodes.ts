import type { Json, JsonObject } from '#protocol';
import { unreachable } from '#protocol';
import type { Called } from './call.ts';
import { callAgent } from './call.ts';
import { holds } from './conditions.ts';
import type { CallingNode, LoopNode, MapNode, Retry, SwitchNode, WorkflowNode } from './definition.ts';
import { WorkflowError } from './definition.ts';
import type { NodeResult, Running } from './running.ts';
import { keep, scopeOf, tell } from './running.ts';
import { fill, fillObject, writtenOut } from './templates.ts';

export interface Place {
  /** Where in the execution: `check`, `each[3]`, `again#2`. */
  readonly path: string;
  /** What templates see besides: the item of a map, the iteration of a loop. */
  readonly more: Readonly<Record<string, Json>>;
}

/** Runs a node, unless it was finished before a restart; its result is kept before it is returned. */
export async function runNode(run: Running, node: WorkflowNode, place: Place): Promise<NodeResult> {
  const known = run.results.get(place.path);
  if (known !== undefined) return known;
  const result = await tried(run, node, place);
  return await keep(run, place.path, node, result);
}

async function tried(run: Running, node: WorkflowNode, place: Place): Promise<NodeResult> {
  try {
    if (node.when !== undefined && !holds(node.when, scopeOf(run, place.more))) return { status: 'skipped' };
    await tell(run, `${place.path}: begun`, {
      type: 'workflow_node_execution_start',
      node_id: node.id,
      node_type: node.type,
      path: place.path,
    });
    switch (node.type) {
      case 'agent':
      case 'workflow':
        return await runCall(run, node, place);
      case 'switch':
        return runSwitch(run, node, place);
      case 'map':
        return await runMap(run, node, place);
      case 'loop':
        return await runLoop(run, node, place);
      default:
        return unreachable(node);
    }
  } catch (thrown) {
    if (thrown instanceof WorkflowError) return { status: 'error', error: thrown.message };
    throw thrown;
  }
}

async function runCall(run: Running, node: CallingNode, { path, more }: Place): Promise<NodeResult> {
  const scope = scopeOf(run, more);
  const input = node.input === undefined ? inferred(run, node) : fillObject(node.input, scope);
  const problem = node.inputSchema === undefined ? undefined : run.validate(node.inputSchema, input);
  if (problem !== undefined) return { status: 'error', error: `the input is not what ${node.agent} takes: ${problem}` };
  const instruction = node.instruction === undefined ? {} : { instruction: writtenOut(node.instruction, scope) };
  const retry = node.retry ?? run.workflow.retry;
  for (let attempt = 0; ; attempt += 1) {
    const called = checked(run, node, await callAgent(run, node, { path, attempt, input, ...instruction }));
    if (called.kind === 'output') return { status: 'success', output: called.output };
    if (retry === undefined || attempt >= retry.limit || !isRetried(retry, called)) return { status: 'error', error: called.reason };
    const waitMs = Math.min(retry.backoffMs * retry.factor ** attempt, retry.backoffMsMax);
    await tell(run, `${path}: ${called.reason}; trying again in ${waitMs / 1000} s`, {
      type: 'agent_progress_update',
      status_text: `retry ${attempt + 1} of ${retry.limit}`,
    });
    await pause(waitMs, run.signal);
  }
}

function checked(run: Running, node: CallingNode, called: Called): Called {
  if (called.kind !== 'output' || node.outputSchema === undefined) return called;
  const problem = run.validate(node.outputSchema, called.output);
  return problem === undefined ? called : { kind: 'failed', reason: `${node.agent} did not answer in the agreed form: ${problem}` };
}

function isRetried({ policy }: Retry, called: Exclude<Called, { kind: 'output' }>): boolean {
  return policy === 'Always' || (policy === 'OnFailure') === (called.kind === 'failed');
}

/** Without an input of its own a node gets what it waits for. */
function inferred(run: Running, { dependsOn }: CallingNode): JsonObject {
  const outputs = dependsOn.flatMap((id): [string, JsonObject][] => {
    const result = run.results.get(id);
    const isOutput = result?.status === 'success' && run.workflow.nodes.get(id)?.type !== 'switch';
    return isOutput ? [[id, result.output as JsonObject]] : [];
  });
  const [only, ...others] = outputs;
  if (only === undefined) return run.input;
  return others.length === 0 ? only[1] : Object.fromEntries(outputs);
}

function runSwitch(run: Running, node: SwitchNode, { more }: Place): NodeResult {
  const scope = scopeOf(run, more);
  const chosen = node.cases.find(({ when }) => holds(when, scope))?.node ?? node.otherwise ?? null;
  return { status: 'success', output: { selected_branch: chosen } };
}

async function runMap(run: Running, node: MapNode, { path, more }: Place): Promise<NodeResult> {
  const items = fill(node.items, scopeOf(run, more));
  const inner = run.workflow.nodes.get(node.node);
  if (!Array.isArray(items)) return { status: 'error', error: `${JSON.stringify(node.items)} gives no list to go through` };
  if (items.length > node.itemsMax) return { status: 'error', error: `${items.length} items are more than the ${node.itemsMax} allowed` };
  if (inner === undefined) return { status: 'error', error: `there is no node ${node.node}` };
  const results: NodeResult[] = [];
  let next = 0;
  let done = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && !run.isStopping) {
      const at = next;
      next += 1;
      const place = { path: `${path}[${at}]`, more: { ...more, _map_item: items[at] ?? null, _map_index: at } };
      results[at] = await runNode(run, inner, place);
      if (results[at].status === 'error' && run.workflow.failFast) run.isStopping = true;
      done += 1;
      await tell(run, `${path}: ${done} of ${items.length}`, {
        type: 'workflow_map_progress',
        node_id: node.id,
        total_items: items.length,
        completed_items: done,
        status: 'in-progress',
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(node.concurrency, items.length) }, worker));
  const failed = results.find((result) => result?.status === 'error');
  if (failed?.status === 'error') return failed;
  if (done < items.length) return { status: 'error', error: 'it was stopped because another node failed' };
  return { status: 'success', output: { results: results.map((result) => (result.status === 'success' ? result.output : null)) } };
}

async function runLoop(run: Running, node: LoopNode, { path, more }: Place): Promise<NodeResult> {
  const inner = run.workflow.nodes.get(node.node);
  if (inner === undefined) return { status: 'error', error: `there is no node ${node.node}` };
  for (let iteration = 0; ; iteration += 1) {
    const place = { path: `${path}#${iteration}`, more: { ...more, _loop_iteration: iteration } };
    const result = await runNode(run, inner, place);
    if (result.status === 'error') return result;
    const output = result.status === 'success' ? result.output : null;
    const seen = scopeOf(run, { ...place.more, [inner.id]: { output } });
    if (!holds(node.condition, seen)) return { status: 'success', output: { ...(output as JsonObject | null), iterations: iteration + 1 } };
    if (iteration + 1 >= node.iterationsMax) return { status: 'error', error: `it was not done after ${node.iterationsMax} iterations` };
    if (node.delayMs > 0) await pause(node.delayMs, run.signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const stopped = Promise.withResolvers<void>();
  const timer = setTimeout(stopped.resolve, ms);
  const stop = (): void => stopped.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await stopped.promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
