import type { Json, JsonObject } from '#protocol';
import type { CallingNode, NodeRetry, WorkflowNode } from './definition.ts';
import { WorkflowError } from './definition.ts';
import { duration, list, member, number, object, text, textIf } from './readers.ts';

type ReadRetry = (raw: Json, path: string) => NodeRetry;

const ITEMS_MAX = 100;
const ITERATIONS_MAX = 100;

/** Reads one node. Throws a `WorkflowError` with the path of the first problem. */
export function readNode(raw: Json, path: string, readRetry: ReadRetry): WorkflowNode {
  const given = object(raw, path);
  const id = text(given['id'], `${path}.id`);
  if (!/^[A-Za-z_]\w{0,63}$/.test(id))
    throw new WorkflowError(`${path}.id`, 'must consist of letters, digits and _, and not begin with a digit');
  const after = member(given, 'depends_on', 'dependencies', 'dependsOn') ?? [];
  const when = textIf(given['when'], `${path}.when`);
  const base = {
    id,
    dependsOn: list(after, `${path}.depends_on`).map((one, at) => text(one, `${path}.depends_on[${at}]`)),
    ...(when === undefined ? {} : { when }),
  };
  const type = text(given['type'], `${path}.type`);
  switch (type) {
    case 'agent':
    case 'workflow':
      return {
        ...base,
        ...callOf(given, path, readRetry),
        type,
        agent: text(member(given, `${type}_name`, 'agent_name'), `${path}.${type}_name`),
      };
    case 'switch':
      return { ...base, type, ...switchOf(given, path) };
    case 'map':
      return { ...base, type, ...mapOf(given, path) };
    case 'loop':
      return {
        ...base,
        type,
        node: text(given['node'], `${path}.node`),
        condition: text(given['condition'], `${path}.condition`),
        iterationsMax: number(member(given, 'max_iterations', 'maxIterations'), `${path}.max_iterations`) ?? ITERATIONS_MAX,
        delayMs: duration(given['delay'], `${path}.delay`) ?? 0,
      };
    default:
      throw new WorkflowError(`${path}.type`, `must be agent, workflow, switch, map or loop, not ${type}`);
  }
}

/** The members of a node that calls an agent or a workflow. */
function callOf(given: JsonObject, path: string, readRetry: ReadRetry): Omit<CallingNode, 'id' | 'type' | 'agent' | 'dependsOn' | 'when'> {
  const retry = member(given, 'retry_strategy', 'retryStrategy');
  const schemas = { inputSchema: 'input_schema_override', outputSchema: 'output_schema_override' } as const;
  const read = Object.entries(schemas).flatMap(([name, key]) =>
    given[key] === undefined ? [] : [[name, object(given[key], `${path}.${key}`)]],
  );
  const instruction = textIf(given['instruction'], `${path}.instruction`);
  const timeoutMs = duration(given['timeout'], `${path}.timeout`);
  return {
    ...(given['input'] === undefined ? {} : { input: object(given['input'], `${path}.input`) }),
    ...(instruction === undefined ? {} : { instruction }),
    ...Object.fromEntries(read),
    ...(retry === undefined ? {} : { retry: readRetry(retry, `${path}.retry_strategy`) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/** The cases of a switch. */
function switchOf(given: JsonObject, path: string): { cases: { when: string; node: string }[]; otherwise?: string } {
  const cases = list(given['cases'], `${path}.cases`).map((raw, at) => {
    const one = object(raw, `${path}.cases[${at}]`);
    return {
      when: text(member(one, 'condition', 'when'), `${path}.cases[${at}].condition`),
      node: text(member(one, 'node', 'then'), `${path}.cases[${at}].node`),
    };
  });
  if (cases.length === 0) throw new WorkflowError(`${path}.cases`, 'must not be empty');
  const otherwise = textIf(given['default'], `${path}.default`);
  return { cases, ...(otherwise === undefined ? {} : { otherwise }) };
}

/** The members of a map, in SAM's and in Argo's spelling. */
function mapOf(given: JsonObject, path: string): { items: Json; node: string; itemsMax: number; concurrency: number } {
  const items = member(given, 'items', 'withParam', 'with_param', 'withItems', 'with_items');
  if (items === undefined) throw new WorkflowError(`${path}.items`, 'is required: the list for the map');
  return {
    items,
    node: text(given['node'], `${path}.node`),
    itemsMax: number(member(given, 'max_items', 'maxItems'), `${path}.max_items`) ?? ITEMS_MAX,
    concurrency: number(member(given, 'concurrency_limit', 'concurrencyLimit'), `${path}.concurrency_limit`) ?? Number.POSITIVE_INFINITY,
  };
}
