import type { Json, JsonObject } from '#protocol';
import { isObject } from '#protocol';
import { WorkflowError } from './definition.ts';

/**
 * The values that templates can name: `workflow.input.x`, `node.output.y`, `_map_item`, `_map_index`,
 * `_loop_iteration`.
 */
export type TemplateScope = ReadonlyMap<string, Json>;

const WHOLE = /^\{\{([^{}]+)\}\}$/;
const WITHIN = /\{\{([^{}]+)\}\}/g;

/**
 * Fills the templates of a value. A text that is one template becomes the named value, with its type.
 * Inside other text the value becomes text. `{coalesce: [a, b]}` is the first value that is not null,
 * `{concat: [a, b]}` joins texts.
 */
export function fill(value: Json, scope: TemplateScope): Json {
  if (typeof value === 'string') return fillText(value, scope);
  if (Array.isArray(value)) return value.map((item) => fill(item, scope));
  if (!isObject(value)) return value;
  const [only, ...others] = Object.keys(value);
  const operands = only === undefined ? undefined : value[only];
  if (others.length === 0 && Array.isArray(operands)) {
    const filled = (): Json[] => operands.map((operand) => fill(operand, scope));
    if (only === 'coalesce') return filled().find((item) => item !== null) ?? null;
    if (only === 'concat') return filled().map(asText).join('');
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, scope)]));
}

/** Fills the templates of all members. */
export function fillObject(value: JsonObject, scope: TemplateScope): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, scope)]));
}

function fillText(text: string, scope: TemplateScope): Json {
  const whole = WHOLE.exec(text)?.[1];
  return whole === undefined
    ? text.replaceAll(WITHIN, (_, path: string) => asText(lookup(path.trim(), scope)))
    : lookup(whole.trim(), scope);
}

/** Fills the templates of a text. The result is always text. */
export function fillToText(text: string, scope: TemplateScope): string {
  return asText(fillText(text, scope));
}

/**
 * Returns `null` for a missing value, such as the output of a skipped node; see `coalesce`. An unknown
 * root name is an error.
 */
export function lookup(path: string, scope: TemplateScope): Json {
  const [root = '', ...steps] = path.split(/[.[\]]+/).filter((step) => step !== '');
  const start = scope.get(root);
  if (start === undefined) throw new WorkflowError('', `{{${path}}}: there is no ${root}`);
  return steps.reduce<Json>((found, step) => {
    if (Array.isArray(found)) return /^\d+$/.test(step) ? (found[Number(step)] ?? null) : null;
    return isObject(found) && Object.hasOwn(found, step) ? (found[step] ?? null) : null;
  }, start);
}

function asText(value: Json): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
