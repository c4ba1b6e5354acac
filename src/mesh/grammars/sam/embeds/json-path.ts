import type { Json } from '#protocol';
import { isObject } from '#protocol';

/** `.name`, `['name']`, `[0]`, `[*]`, `.*` and `..name`. */
const STEP = /\.\.([\w-]+)|\.([\w-]+|\*)|\[(-?\d+|\*|'[^']*'|"[^"]*")\]/gy;

/** The values that a JSONPath finds. Throws for what it has no steps for: filters, slices, unions. */
export function valuesAt(value: Json, path: string): readonly Json[] {
  const steps = [
    ...path
      .replace(/^\$?(?=\w)/, '$.')
      .slice(1)
      .matchAll(STEP),
  ];
  const length = steps.reduce((sum, [all]) => sum + all.length, 1);
  if (length !== path.replace(/^\$?(?=\w)/, '$.').length) throw new SyntaxError('this form of a path is not supported');
  return steps.reduce<readonly Json[]>(
    (found, [, deep, name, index]) =>
      found.flatMap((each) => (deep === undefined ? childrenOf(each, name ?? index ?? '') : below(each, deep))),
    [value],
  );
}

function childrenOf(value: Json, step: string): readonly Json[] {
  if (step === '*') return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  if (Array.isArray(value)) return only(value.at(Number(step)));
  const name = step.replace(/^(['"])(.*)\1$/, '$2');
  return isObject(value) && Object.hasOwn(value, name) ? only(value[name]) : [];
}

function below(value: Json, name: string): readonly Json[] {
  const inside = childrenOf(value, '*').flatMap((each) => below(each, name));
  return isObject(value) && Object.hasOwn(value, name) ? [...only(value[name]), ...inside] : inside;
}

function only(value: Json | undefined): readonly Json[] {
  return value === undefined ? [] : [value];
}
