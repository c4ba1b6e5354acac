import { createCard } from '#agents';
import type { Agent, AgentOutput, Json, JsonObject, Turn } from '#protocol';
import { createAgentTextMessage, createDataPart, getTextFromMessage, isDataPart, isObject, linkSignals } from '#protocol';
import { createOutputChannel } from './channel.ts';
import type { Workflow } from './definition.ts';
import { WorkflowError } from './definition.ts';
import { runGraph } from './graph.ts';
import { runNode } from './nodes.ts';
import type { FindWorkflowAgent, Running, Validate } from './running.ts';
import { report, resultsIn, scopeOf } from './running.ts';
import { fillObject } from './templates.ts';

/** What a workflow needs from its surroundings. */
export interface WorkflowOptions {
  /** Finds the agents that the nodes call. */
  readonly findAgent: FindWorkflowAgent;
  /** Validates values by JSON Schema. A workflow with schemas needs it. */
  readonly validate?: Validate;
}

/**
 * Publishes a workflow as an agent. It is called, streamed, answered and canceled like any other agent.
 * The results of its nodes are in its task's log, so that it continues after a crash.
 *
 * ```ts
 * const agent = workflowAgent(readWorkflow(parse(yaml)), { findAgent: (name) => services.get(name) });
 * ```
 */
export function workflowAgent(workflow: Workflow, { findAgent, validate }: WorkflowOptions): Agent {
  if (validate === undefined && hasSchemas(workflow)) throw new WorkflowError('', 'the workflow has schemas; pass validate to check them');
  const { name, description, version, skills } = workflow;
  const card = createCard({ name, description, version, ...(skills.length === 0 ? {} : { skills }) });
  const check: Validate = validate ?? (() => undefined);
  return { card, recovery: 'resume', run: (turn) => execute(workflow, turn, { findAgent, validate: check }) };
}

/** Checks the input, runs the graph and reports progress. */
async function* execute(workflow: Workflow, turn: Turn, given: Required<WorkflowOptions>): AsyncGenerator<AgentOutput> {
  const input = inputOf(turn);
  const wrong = workflow.inputSchema === undefined ? undefined : given.validate(workflow.inputSchema, input);
  if (wrong !== undefined) {
    yield { kind: 'reject', reason: createAgentTextMessage(`The input does not match the schema of ${workflow.name}: ${wrong}`) };
    return;
  }
  const stop = new AbortController();
  const { signal } = linkSignals([turn.signal, stop.signal]);
  const out = createOutputChannel<AgentOutput>();
  const results = resultsIn(turn.task);
  const run: Running = {
    workflow,
    input,
    turn,
    signal,
    ...given,
    out,
    results,
    tasks: new Map(),
    isStopping: false,
    asking: Promise.resolve(),
  };
  const last = runWorkflow(run).finally(() => out.end());
  last.catch(() => undefined); // awaited below; this keeps it from being an unhandled rejection until then
  try {
    yield* out;
    yield await last;
  } finally {
    stop.abort(); // the task is canceled or has ended: nobody reads the outputs any more
  }
}

/** Runs the graph and the exit nodes. Finished nodes of an earlier attempt are not repeated. */
async function runWorkflow(run: Running): Promise<AgentOutput> {
  const { workflow, turn } = run;
  const signal = { workflow_name: workflow.name, execution_id: turn.task.id };
  if (run.results.size === 0)
    await report(run, `${workflow.name}: started`, { type: 'workflow_execution_start', ...signal, workflow_input: run.input });
  try {
    await runGraph(run);
  } catch (thrown) {
    await exit(run, ['onCancel', 'always'], { status: 'cancelled' });
    throw thrown;
  }
  const error = [...run.results.values()].find((result) => result.status === 'error')?.error;
  const answer = error === undefined ? answerOf(run) : { error };
  const isGood = answer.error === undefined;
  const outcome = isGood ? { status: 'success' } : { status: 'error', error: answer.error ?? null };
  run.isStopping = false;
  await exit(run, [isGood ? 'onSuccess' : 'onFailure', 'always'], outcome);
  await report(run, `${workflow.name}: ${isGood ? 'done' : 'failed'}`, { type: 'workflow_execution_result', ...signal, ...outcome });
  if (answer.error !== undefined) return { kind: 'fail', reason: createAgentTextMessage(answer.error) };
  await run.out.send({ kind: 'artifact', id: 'result', name: 'result', parts: [createDataPart(answer.output)], last: true });
  return { kind: 'complete', message: createAgentTextMessage(resultText(answer.output)) };
}

/** The result for people: its only text, or one line for each member. */
function resultText(output: JsonObject): string {
  const entries = Object.entries(output);
  const words = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
  const [only, other] = entries;
  if (only !== undefined && other === undefined) return words(only[1]);
  return entries.map(([name, value]) => `${name}: ${words(value)}`).join('\n');
}

/** The workflow's output, or why it can't be made. */
function answerOf(run: Running): { readonly output: JsonObject; readonly error?: never } | { readonly error: string } {
  try {
    const output = fillObject(run.workflow.output, scopeOf(run));
    const wrong = run.workflow.outputSchema === undefined ? undefined : run.validate(run.workflow.outputSchema, output);
    return wrong === undefined ? { output } : { error: `the output does not match its schema: ${wrong}` };
  } catch (thrown) {
    if (thrown instanceof WorkflowError) return { error: thrown.message };
    throw thrown;
  }
}

/** Time limit of exit nodes after a cancel. */
const EXIT_MS = 30_000;

/**
 * Runs the exit nodes. They do not change the outcome. After a cancel nobody waits for them, and they
 * have a time limit of their own.
 */
async function exit(run: Running, names: readonly (keyof Workflow['onExit'])[], outcome: JsonObject): Promise<void> {
  const signal = run.signal.aborted ? AbortSignal.timeout(EXIT_MS) : run.signal;
  const silent = { ...run.out, send: async () => undefined };
  for (const name of names) {
    const id = run.workflow.onExit[name];
    const node = id === undefined ? undefined : run.workflow.nodes.get(id);
    if (node === undefined) continue;
    const more = { workflow: { input: run.input, ...outcome } };
    const ending = run.signal.aborted ? { ...run, signal, out: silent, turn: { ...run.turn, durable: async () => undefined } } : run;
    await runNode(ending, node, { path: `${name}:${node.id}`, more }).catch(() => undefined);
  }
}

/** The message's data, its text as a JSON object, or the text as `text`. */
function inputOf({ message }: Turn): JsonObject {
  const data = message.parts.find(isDataPart)?.data;
  if (isObject(data)) return data;
  const text = getTextFromMessage(message);
  try {
    const parsed: Json = JSON.parse(text);
    if (isObject(parsed)) return parsed;
  } catch {
    // not JSON: plain text
  }
  return { text };
}

function hasSchemas({ inputSchema, outputSchema, nodes }: Workflow): boolean {
  const calls = [...nodes.values()].filter((node) => node.type === 'agent' || node.type === 'workflow');
  return [{ inputSchema, outputSchema }, ...calls].some((one) => one.inputSchema !== undefined || one.outputSchema !== undefined);
}
