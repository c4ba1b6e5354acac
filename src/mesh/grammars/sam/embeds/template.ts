import type { Json } from '#protocol';
import { isObject } from '#protocol';

/** A tag of Mustache: `{{name}}`, `{{{name}}}`, `{{#name}}`, `{{^name}}`, `{{/name}}`, `{{!comment}}`. */
const TAG = /\{\{\{([^{}]*)\}\}\}|\{\{([#^/!&]?)([^{}]*)\}\}/g;
const CHARS_MAX = 10_000_000;
const DEPTH_MAX = 50;

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly name: string; readonly isEscaped: boolean }
  | { readonly kind: 'section'; readonly name: string; readonly isInverted: boolean; readonly inside: readonly Node[] };

/** Fills a Mustache template: values, sections and comments. Partials and other delimiters are not part of it. */
export function fillTemplate(template: string, context: Json): string {
  const budget = { chars: CHARS_MAX };
  return written(nodesIn(template), [context], budget);
}

function nodesIn(template: string): readonly Node[] {
  const open: { readonly name: string; readonly isInverted: boolean; readonly inside: Node[] }[] = [
    { name: '', isInverted: false, inside: [] },
  ];
  let end = 0;
  for (const { 0: all, 1: whole, 2: sign = '', 3: tagged = '', index } of template.matchAll(TAG)) {
    const [raw, name] = [whole?.trim(), tagged.trim()];
    const into = open.at(-1)?.inside;
    into?.push({ kind: 'text', text: template.slice(end, index) });
    end = index + all.length;
    if (raw !== undefined || sign === '' || sign === '&')
      into?.push({ kind: 'value', name: raw ?? name, isEscaped: raw === undefined && sign === '' });
    else if (sign === '#' || sign === '^') open.push({ name, isInverted: sign === '^', inside: [] });
    else if (sign === '/') close(open, name);
    if (open.length > DEPTH_MAX) throw new SyntaxError('the template has too many levels');
  }
  const [root] = open;
  if (open.length !== 1 || root === undefined) throw new SyntaxError(`section ${open.at(-1)?.name} is not closed`);
  return [...root.inside, { kind: 'text', text: template.slice(end) }];
}

function close(open: { readonly name: string; readonly isInverted: boolean; readonly inside: Node[] }[], name: string): void {
  const section = open.length > 1 ? open.pop() : undefined;
  if (section === undefined || section.name !== name) throw new SyntaxError(`section ${name} was not opened`);
  open.at(-1)?.inside.push({ kind: 'section', ...section });
}

function written(nodes: readonly Node[], contexts: readonly Json[], budget: { chars: number }): string {
  return nodes.map((node) => nodeText(node, contexts, budget)).join('');
}

function nodeText(node: Node, contexts: readonly Json[], budget: { chars: number }): string {
  if (node.kind === 'section') {
    const value = valueNamed(node.name, contexts);
    const isAbsent = value === null || value === false || value === '' || value === 0 || (Array.isArray(value) && value.length === 0);
    if (node.isInverted) return isAbsent ? written(node.inside, contexts, budget) : '';
    if (isAbsent) return '';
    return (Array.isArray(value) ? value : [value]).map((each) => written(node.inside, [...contexts, each], budget)).join('');
  }
  const text = node.kind === 'text' ? node.text : valueText(valueNamed(node.name, contexts), node.isEscaped);
  budget.chars -= text.length + 1;
  if (budget.chars < 0) throw new RangeError('the filled template is too long');
  return text;
}

function valueText(value: Json, isEscaped: boolean): string {
  const text = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  return isEscaped ? text.replaceAll(/[&<>"]/g, (char) => ESCAPES[char] ?? char) : text;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** `.` is the innermost context. Other names are looked for from the innermost to the outermost. */
function valueNamed(name: string, contexts: readonly Json[]): Json {
  if (name === '.') return contexts.at(-1) ?? null;
  const [first = '', ...rest] = name.split('.');
  const holder = contexts.findLast((context) => isObject(context) && Object.hasOwn(context, first));
  return [first, ...rest].reduce<Json>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? (value[key] ?? null) : null),
    holder ?? null,
  );
}
