import type { Json, JsonObject } from '#protocol';
import { A2UI_08_COMPONENTS, A2UI_08_MEMBERS, isObject, jsonOf } from '#protocol';
import type { SurfaceOutput } from './definition.ts';

/**
 * The messages of A2UI 0.8: typed values, components wrapped by their names, and other names of
 * members. Functions and checks have no form there and are left out.
 */
export function legacyMessages({ id: surfaceId, components, data, isUpdate }: SurfaceOutput): readonly JsonObject[] {
  const made: JsonObject[] = [];
  if (components !== undefined) {
    const list = Object.entries(components).map(([id, component]): Json => legacyComponent(id, jsonOf(component)));
    made.push({ surfaceUpdate: { surfaceId, components: list } });
  }
  if (data !== undefined) made.push({ dataModelUpdate: { surfaceId, contents: contentsOf(data) } });
  if (!isUpdate) made.push({ beginRendering: { surfaceId, root: 'root' } });
  return made;
}

/** Members that 0.8 has no place for. */
const LOST: Readonly<Record<string, readonly string[]>> = {
  Image: ['description'],
  ChoicePicker: ['label', 'variant'],
  Slider: ['label'],
  DateTimeInput: ['label'],
  Button: ['variant'],
};

/** Members whose value may come from the data model. */
const BOUND: ReadonlySet<string> = new Set(['text', 'url', 'name', 'description', 'label', 'value', 'title', 'selections']);

function legacyComponent(id: string, { component, weight, checks: _, ...members }: JsonObject): JsonObject {
  const name = String(component);
  const made: Record<string, Json> = {};
  for (const [given, value] of Object.entries(members)) {
    if (LOST[name]?.includes(given)) continue;
    const member = A2UI_08_MEMBERS[name]?.[given] ?? given;
    made[member] = memberValue(member, value);
  }
  if (name === 'Button' && members['variant'] === 'primary') made['primary'] = true;
  if (name === 'ChoicePicker' && members['variant'] === 'mutuallyExclusive') made['maxAllowedSelections'] = 1;
  return { id, ...(weight === undefined ? {} : { weight }), component: { [A2UI_08_COMPONENTS[name] ?? name]: made } };
}

function memberValue(member: string, value: Json): Json {
  if (member === 'children') return childrenOf(value);
  if (member === 'action') return actionOf(value);
  if (member === 'tabItems' || member === 'options') return listOf(value);
  return BOUND.has(member) ? bound(value) : value;
}

function childrenOf(value: Json): Json {
  if (isObject(value)) return { template: { componentId: value['componentId'] ?? '', dataBinding: value['path'] ?? '' } };
  return { explicitList: value };
}

function actionOf(value: Json): Json {
  const event = isObject(value) ? value['event'] : undefined;
  if (!isObject(event)) return { name: 'unsupported' };
  const context = isObject(event['context'])
    ? Object.entries(event['context']).map(([key, each]): Json => ({ key, value: bound(each) }))
    : [];
  return { name: event['name'] ?? '', context };
}

function listOf(value: Json): Json {
  if (!Array.isArray(value)) return [];
  return value.map((item: Json): Json => {
    if (!isObject(item)) return item;
    const name = 'title' in item ? 'title' : 'label';
    const words: Json = item[name] ?? '';
    return { ...item, [name]: bound(words) };
  });
}

/** A literal with its type, or a path. */
function bound(value: Json): Json {
  if (isObject(value)) return typeof value['path'] === 'string' ? { path: value['path'] } : { literalString: '' };
  if (typeof value === 'number') return { literalNumber: value };
  if (typeof value === 'boolean') return { literalBoolean: value };
  if (Array.isArray(value)) return { literalArray: value };
  return { literalString: value === null ? '' : String(value) };
}

/** The data model as 0.8's list of typed values. */
function contentsOf(data: JsonObject): readonly Json[] {
  return Object.entries(data).map(([key, value]): Json => ({ key, ...typed(value) }));
}

function typed(value: Json): JsonObject {
  if (typeof value === 'number') return { valueNumber: value };
  if (typeof value === 'boolean') return { valueBoolean: value };
  if (Array.isArray(value)) return { valueMap: contentsOf(Object.fromEntries(value.map((item, at) => [String(at), item]))) };
  if (isObject(value)) return { valueMap: contentsOf(value) };
  return { valueString: value === null ? '' : String(value) };
}
