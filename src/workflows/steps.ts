import type { Json, JsonObject } from '#protocol';
import { isObject } from '#protocol';
import { WorkflowError } from './definition.ts';
import { list, object, text } from './readers.ts';

/**
 * The short form of a workflow: `steps` by name, each with the `agent` that it asks and what it says.
 * A step waits for the one above it, unless `after` says otherwise. Returns the long form.
 */
export function fromSteps(given: JsonObject): JsonObject {
  const { steps: raw, result, ...rest } = given;
  const steps = Object.entries(object(raw, 'steps'));
  const names = new Set(steps.map(([name]) => name));
  const nodes = steps.map(([name, step], at) => nodeOf(name, object(step, `steps.${name}`), { before: steps[at - 1]?.[0], names }));
  const last = steps.at(-1)?.[0];
  if (last === undefined) throw new WorkflowError('steps', 'must be at least one step');
  const output = result === undefined ? `{{${last}}}` : result;
  return { ...rest, nodes, output_mapping: spelled(isObject(output) ? output : { text: output }, names) };
}

interface StepPlace {
  readonly before: string | undefined;
  readonly names: ReadonlySet<string>;
}

function nodeOf(name: string, step: JsonObject, { before, names }: StepPlace): JsonObject {
  const { agent, say, after, ...rest } = step;
  const waitsFor = after === undefined ? (before === undefined ? [] : [before]) : list(after, `steps.${name}.after`);
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, spelled(value, names)])),
    id: name,
    type: 'agent',
    agent_name: text(agent, `steps.${name}.agent`),
    instruction: spelled(say ?? (before === undefined ? '{{input.text}}' : `{{${before}}}`), names),
    depends_on: waitsFor,
  };
}

/** Writes `{{input.x}}` and `{{step}}` as the long form has them. */
function spelled(value: Json, names: ReadonlySet<string>): Json {
  if (typeof value === 'string')
    return value.replaceAll(/\{\{\s*([\w-]+)((?:\.[\w-]+)*)\s*\}\}/g, (all, head: string, rest: string) => full(head, rest, names) ?? all);
  if (Array.isArray(value)) return value.map((each: Json) => spelled(each, names));
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, spelled(each, names)])) : value;
}

function full(head: string, rest: string, names: ReadonlySet<string>): string | undefined {
  if (head === 'input' && !names.has(head)) return `{{workflow.input${rest}}}`;
  if (!names.has(head)) return undefined;
  if (rest === '') return `{{${head}.output.text}}`;
  return rest === '.status' || rest.startsWith('.output') ? `{{${head}${rest}}}` : `{{${head}.output${rest}}}`;
}
