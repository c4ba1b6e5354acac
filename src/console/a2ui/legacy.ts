import type { Json, JsonObject } from '#protocol';
import { A2UI_08_COMPONENTS, A2UI_08_MEMBERS, isObject } from '#protocol';

const NAMES: Readonly<Record<string, string>> = inverted(A2UI_08_COMPONENTS);

function inverted(names: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(names).map(([current, legacy]) => [legacy, current]));
}

/** A component of A2UI 0.8 in the form of 0.9. */
export function currentComponent(given: JsonObject): JsonObject {
  const { id = '', weight, component } = given;
  const [name, members] = isObject(component) ? (Object.entries(component)[0] ?? []) : [];
  if (name === undefined || !isObject(members)) return given;
  const current = NAMES[name] ?? name;
  const memberNames = inverted(A2UI_08_MEMBERS[current] ?? {});
  const made: Record<string, Json> = { id, component: current };
  if (weight !== undefined) made['weight'] = weight;
  for (const [member, value] of Object.entries(members)) {
    made[memberNames[member] ?? member] = memberValue(member, value);
  }
  if (name === 'Button' && members['primary'] === true) made['variant'] = 'primary';
  if (name === 'MultipleChoice' && members['maxAllowedSelections'] === 1) made['variant'] = 'mutuallyExclusive';
  return made;
}

function memberValue(member: string, value: Json): Json {
  if (member === 'children') return childrenOf(value);
  if (member === 'action') return actionOf(value);
  if (Array.isArray(value)) return value.map((item: Json): Json => (isObject(item) ? mapped(item, plain) : item));
  return plain(value);
}

function mapped(object: JsonObject, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

function childrenOf(value: Json): Json {
  if (!isObject(value)) return value;
  const template = value['template'];
  if (isObject(template)) return { componentId: template['componentId'] ?? '', path: template['dataBinding'] ?? '/' };
  return value['explicitList'] ?? [];
}

function actionOf(value: Json): Json {
  if (!isObject(value)) return value;
  const pairs = Array.isArray(value['context']) ? value['context'] : [];
  const context = Object.fromEntries(
    pairs.flatMap((pair: Json) => (isObject(pair) && typeof pair['key'] === 'string' ? [[pair['key'], plain(pair['value'] ?? null)]] : [])),
  );
  return { event: { name: value['name'] ?? '', context } };
}

/** A literal without its type. A path stays, also beside a literal, which is its first value. */
function plain(value: Json): Json {
  if (!isObject(value)) return value;
  if (typeof value['path'] === 'string') return { path: value['path'] };
  return value['literalString'] ?? value['literalNumber'] ?? value['literalBoolean'] ?? value['literalArray'] ?? value;
}

const DEPTH_MAX = 32;

/** 0.8's list of typed values as an object. */
export function currentData(contents: Json | undefined, depth = 0): JsonObject {
  if (!Array.isArray(contents) || depth > DEPTH_MAX) return {};
  return Object.fromEntries(
    contents.flatMap((entry: Json) =>
      isObject(entry) && typeof entry['key'] === 'string' ? [[entry['key'], typedValue(entry, depth)]] : [],
    ),
  );
}

function typedValue({ valueString, valueNumber, valueBoolean, valueMap }: JsonObject, depth: number): Json {
  return valueString ?? valueNumber ?? valueBoolean ?? currentData(valueMap, depth + 1);
}
