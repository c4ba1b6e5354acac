import type { Json, JsonObject } from '#protocol';
import { isObject } from '#protocol';
import type { SurfaceComponent } from './catalog.ts';
import type { SurfaceOutput } from './definition.ts';

type Components = Readonly<Record<string, SurfaceComponent | undefined>>;

interface Reading {
  readonly components: Components;
  readonly data: Json;
  /** The item that relative paths of a template start from. */
  readonly item: Json;
  readonly depth: number;
}

/** A component that contains itself ends here. */
const DEPTH_MAX = 32;

/** A surface for clients without A2UI: its texts, its fields with their values, and its buttons. */
export function surfaceText({ components, data = {}, text }: SurfaceOutput): string {
  if (text !== undefined) return text;
  if (components === undefined)
    return Object.entries(data)
      .map(([name, value]) => `${name}: ${wordsOf(value)}`)
      .join('\n');
  const reading: Reading = { components, data, item: data, depth: 0 };
  return linesOf('root', reading).join('\n');
}

function linesOf(id: string, reading: Reading): readonly string[] {
  const it = reading.components[id];
  if (it === undefined || reading.depth > DEPTH_MAX) return [];
  const inner: Reading = { ...reading, depth: reading.depth + 1 };
  const words = (value: unknown): string => wordsOf(resolved(value as Json, reading));
  switch (it.component) {
    case 'Text':
      return [heading(it.variant) + words(it.text)];
    case 'Image':
    case 'Video':
    case 'AudioPlayer':
      return [`${'description' in it && it.description !== undefined ? `${words(it.description)}: ` : ''}${words(it.url)}`];
    case 'Row':
    case 'Column':
    case 'List':
      return childLines(it.children, inner);
    case 'Card':
      return linesOf(it.child, inner);
    case 'Tabs':
      return it.tabs.flatMap(({ title, child }) => [`## ${words(title)}`, ...linesOf(child, inner)]);
    case 'Modal':
      return [...linesOf(it.trigger, inner), ...linesOf(it.content, inner)];
    case 'Button':
      return [`[${linesOf(it.child, inner).join(' ')}]`];
    case 'TextField':
      return [`${words(it.label)}: ${it.value === undefined ? '' : words(it.value)}`];
    case 'CheckBox':
      return [`[${resolved(it.value, reading) === true ? 'x' : ' '}] ${words(it.label)}`];
    case 'ChoicePicker': {
      const chosen = resolved(it.value as Json, reading);
      const marks = it.options.map(
        ({ label, value }) => `  (${Array.isArray(chosen) && chosen.includes(value) ? 'x' : ' '}) ${words(label)}`,
      );
      return [...(it.label === undefined ? [] : [`${words(it.label)}:`]), ...marks];
    }
    case 'Slider':
    case 'DateTimeInput':
      return [`${it.label === undefined ? '' : `${words(it.label)}: `}${words(it.value)}`];
    case 'Divider':
      return ['---'];
    case 'Icon':
      return [];
  }
}

function heading(variant: string | undefined): string {
  const level = /^h([1-5])$/.exec(variant ?? '')?.[1];
  return level === undefined ? '' : `${'#'.repeat(Number(level))} `;
}

function childLines(
  children: readonly string[] | { readonly componentId: string; readonly path: string },
  reading: Reading,
): readonly string[] {
  if (!('componentId' in children)) return children.flatMap((id) => linesOf(id, reading));
  const list = at(children.path, reading);
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: Json) => linesOf(children.componentId, { ...reading, item }));
}

function resolved(value: Json, reading: Reading): Json {
  return isObject(value) && typeof value['path'] === 'string' ? at(value['path'], reading) : value;
}

/** The value at a path. A path without a leading slash starts from the item of the template. */
function at(path: string, { data, item }: Reading): Json {
  let value: Json | undefined = path.startsWith('/') ? data : item;
  for (const name of path.split('/').filter((each) => each !== '')) value = member(value, name);
  return value ?? '';
}

function member(value: Json | undefined, name: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(name)];
  const object: JsonObject | undefined = isObject(value) ? value : undefined;
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}

function wordsOf(value: Json): string {
  if (typeof value === 'string') return value;
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value ?? '');
}
