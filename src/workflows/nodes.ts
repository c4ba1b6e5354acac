import type { Json, JsonObject } from '#protocol';
import { isObject, unreachable } from '#protocol';
import type { CallOutcome } from './call.ts';
import { callAgent } from './call.ts';
import { holds } from './conditions.ts';
import type { CallingNode, LoopNode, MapNode, NodeRetry, SwitchNode, WorkflowNode } from './definition.ts';
import { WorkflowError } from './definition.ts';
import type { NodeResult, Running } from './running.ts';
import { report, scopeOf, storeResult } from './running.ts';
import { fill, fillObject, fillToText } from './templates.ts';

/** Where in the execution a node runs. */
export interface NodePosition {
  /** The position in the execution: `check`, `each[3]`, `again#2`. */
  readonly path: string;
  /** More values for templates: the item of a map, the iteration of a loop. */
  readonly more: Readonly<Record<string, Json>>;
}

/** Runs a node, unless it finished before a restart. Its result is on disk when this returns. */
export async function runNode(run: Running, node: WorkflowNode, position: NodePosition): Promise<NodeResult> {
  const known = run.results.get(position.path);
  if (known !== undefined) return known;
  const result = await tryNode(run, node, position);
  return await storeResult(run, position.path, node, result);
}

/** Runs a node unless its condition is false. Errors become a result. */
async function tryNode(run: Running, node: WorkflowNode, position: NodePosition): Promise<NodeResult> {
  try {
    if (node.when !== undefined && !holds(node.when, scopeOf(run, position.more))) return { status: 'skipped' };
    await report(run, `${position.path}: started`, {
      type: 'workflow_node_execution_start',
      node_id: node.id,
      node_type: node.type,
      path: position.path,
      ...(node.type === 'agent' || node.type === 'workflow' ? { agent_name: node.agent } : {}),
    });
    switch (node.type) {
      case 'agent':
      case 'workflow':
        return await runCall(run, node, position);
      case 'switch':
        return runSwitch(run, node, position);
      case 'map':
        return await runMap(run, node, position);
      case 'loop':
        return await runLoop(run, node, position);
      default:
        return unreachable(node);
    }
  } catch (thrown) {
    if (thrown instanceof WorkflowError) return { status: 'error', error: thrown.message };
    throw thrown;
  }
}

/** Calls an agent, with the retries of the node or of the workflow. */
async function runCall(run: Running, node: CallingNode, { path, more }: NodePosition): Promise<NodeResult> {
  const scope = scopeOf(run, more);
  const input = node.input === undefined ? inferred(run, node) : fillObject(node.input, scope);
  const problem = node.inputSchema === undefined ? undefined : run.validate(node.inputSchema, input);
  if (problem !== undefined) return { status: 'error', error: `the input does not match the schema of ${node.agent}: ${problem}` };
  const instruction = node.instruction === undefined ? {} : { instruction: fillToText(node.instruction, scope) };
  const retry = node.retry ?? run.workflow.retry;
  for (let attempt = 0; ; attempt += 1) {
    const called = checked(run, node, await callAgent(run, node, { path, attempt, input, ...instruction }));
    if (called.kind === 'output') return { status: 'success', output: called.output };
    if (retry === undefined || attempt >= retry.limit || !isRetried(retry, called)) return { status: 'error', error: called.reason };
    const waitMs = Math.min(retry.backoffMs * retry.factor ** attempt, retry.backoffMsMax);
    await report(run, `${path}: ${called.reason}; retry in ${waitMs / 1000} s`, {
      type: 'agent_progress_update',
      status_text: `retry ${attempt + 1} of ${retry.limit}`,
    });
    await pause(waitMs, run.signal);
  }
}

function checked(run: Running, node: CallingNode, called: CallOutcome): CallOutcome {
  if (called.kind !== 'output' || node.outputSchema === undefined) return called;
  const problem = run.validate(node.outputSchema, called.output);
  return problem === undefined ? called : { kind: 'failed', reason: `the output of ${node.agent} does not match its schema: ${problem}` };
}

function isRetried({ policy }: NodeRetry, called: Exclude<CallOutcome, { kind: 'output' }>): boolean {
  return policy === 'Always' || (policy === 'OnFailure') === (called.kind === 'failed');
}

/** The default input of a node: the outputs of the nodes that it depends on. */
function inferred(run: Running, { dependsOn }: CallingNode): JsonObject {
  const outputs = dependsOn.flatMap((id): [string, JsonObject][] => {
    const result = run.results.get(id);
    const isOutput = result?.status === 'success' && run.workflow.nodes.get(id)?.type !== 'switch';
    return isOutput && isObject(result.output) ? [[id, result.output]] : [];
  });
  const [only, ...others] = outputs;
  if (only === undefined) return run.input;
  return others.length === 0 ? only[1] : Object.fromEntries(outputs);
}

function runSwitch(run: Running, node: SwitchNode, { more }: NodePosition): NodeResult {
  const scope = scopeOf(run, more);
  const chosen = node.cases.find(({ when }) => holds(when, scope))?.node ?? node.otherwise ?? null;
  return { status: 'success', output: { selected_branch: chosen } };
}

/** Runs a node for each item of a list, some of them at the same time. */
async function runMap(run: Running, node: MapNode, { path, more }: NodePosition): Promise<NodeResult> {
  const items = fill(node.items, scopeOf(run, more));
  const inner = run.workflow.nodes.get(node.node);
  if (!Array.isArray(items)) return { status: 'error', error: `${JSON.stringify(node.items)} is not a list` };
  if (items.length > node.itemsMax)
    return { status: 'error', error: `the list has ${items.length} items; the maximum is ${node.itemsMax}` };
  if (inner === undefined) return { status: 'error', error: `there is no node ${node.node}` };
  const results: NodeResult[] = [];
  let next = 0;
  let done = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && !run.isStopping) {
      const at = next;
      next += 1;
      const position = { path: `${path}[${at}]`, more: { ...more, _map_item: items[at] ?? null, _map_index: at } };
      results[at] = await runNode(run, inner, position);
      if (results[at].status === 'error' && run.workflow.failFast) run.isStopping = true;
      done += 1;
      await report(run, `${path}: ${done} of ${items.length}`, {
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
  if (done < items.length) return { status: 'error', error: 'stopped because another node failed' };
  return { status: 'success', output: { results: results.map((result) => (result.status === 'success' ? result.output : null)) } };
}

/** Repeats a node until its condition is false. Reaching the maximum is an error. */
async function runLoop(run: Running, node: LoopNode, { path, more }: NodePosition): Promise<NodeResult> {
  const inner = run.workflow.nodes.get(node.node);
  if (inner === undefined) return { status: 'error', error: `there is no node ${node.node}` };
  for (let iteration = 0; ; iteration += 1) {
    const position = { path: `${path}#${iteration}`, more: { ...more, _loop_iteration: iteration } };
    const result = await runNode(run, inner, position);
    if (result.status === 'error') return result;
    const output = result.status === 'success' ? result.output : null;
    const seen = scopeOf(run, { ...position.more, [inner.id]: { output } });
    if (!holds(node.condition, seen))
      return { status: 'success', output: { ...(isObject(output) ? output : {}), iterations: iteration + 1 } };
    if (iteration + 1 >= node.iterationsMax)
      return { status: 'error', error: `the loop has reached the maximum of ${node.iterationsMax} iterations` };
    if (node.delayMs > 0) await pause(node.delayMs, run.signal);
  }
}

/** Waits before a retry. Rejects when the task is canceled. */
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
