import type { Json, JsonObject } from '#protocol';
import { WorkflowError } from './definition.ts';

/** What templates can name: `workflow.input.x`, `node.output.y`, `_map_item`, `_map_index`, `_loop_iteration`. */
export type Scope = ReadonlyMap<string, Json>;

const WHOLE = /^\{\{([^{}]+)\}\}$/;
const WITHIN = /\{\{([^{}]+)\}\}/g;

/**
 * Fills a value's templates. A text that is one template becomes what it names, with its type; within other text it is written out.
 * `{coalesce: [a, b]}` is the first that is there, `{concat: [a, b]}` the texts together.
 */
export function fill(value: Json, scope: Scope): Json {
  if (typeof value === 'string') return fillText(value, scope);
  if (Array.isArray(value)) return value.map((item) => fill(item, scope));
  if (typeof value !== 'object' || value === null) return value;
  const given = value as JsonObject;
  const [only, ...others] = Object.keys(given);
  const operands = only === undefined ? undefined : given[only];
  if (others.length === 0 && Array.isArray(operands)) {
    const filled = (): Json[] => operands.map((operand) => fill(operand, scope));
    if (only === 'coalesce') return filled().find((item) => item !== null) ?? null;
    if (only === 'concat') return filled().map(written).join('');
  }
  return Object.fromEntries(Object.entries(given).map(([name, item]) => [name, fill(item, scope)]));
}

export function fillObject(value: JsonObject, scope: Scope): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, scope)]));
}

function fillText(text: string, scope: Scope): Json {
  const whole = WHOLE.exec(text)?.[1];
  return whole === undefined
    ? text.replaceAll(WITHIN, (_, path: string) => written(lookup(path.trim(), scope)))
    : lookup(whole.trim(), scope);
}

export function writtenOut(text: string, scope: Scope): string {
  return written(fillText(text, scope));
}

/** `null` for what is not there: a skipped node has no output, and `coalesce` is for that. A name that can never be is an error. */
export function lookup(path: string, scope: Scope): Json {
  const [root = '', ...steps] = path.split(/[.[\]]+/).filter((step) => step !== '');
  const start = scope.get(root);
  if (start === undefined) throw new WorkflowError('', `{{${path}}} names nothing: there is no ${root}`);
  return steps.reduce<Json>((found, step) => {
    if (Array.isArray(found)) return /^\d+$/.test(step) ? (found[Number(step)] ?? null) : null;
    return typeof found === 'object' && found !== null && Object.hasOwn(found, step) ? ((found as JsonObject)[step] ?? null) : null;
  }, start);
}

function written(value: Json): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
