import type { Json, JsonObject } from '#protocol';
import { bytesToBase64, isObject, parseJson } from '#protocol';
import { valuesAt } from './json-path.ts';
import { cellText, readCsv, writeCsv } from './tables.ts';

/** The content of a file on its way through a chain of modifiers. */
export type QuotedContent =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly json: Json }
  | { readonly kind: 'rows'; readonly rows: readonly JsonObject[] };

/** A modifier can't be applied. The message stands in the text, where the content would. */
export class ModifierError extends Error {}
/** The content is not of a kind that the modifier takes. */
class ConversionError extends ModifierError {}

type Modifier = (content: QuotedContent, value: string, mediaType: string) => QuotedContent;

const MODIFIERS: Readonly<Record<string, Modifier>> = {
  jsonpath: (content, value) => ({ kind: 'json', json: [...valuesAt(jsonIn(content), value)] }),
  select_cols: (content, value, type) => rows(selected(rowsIn(content, type), namesIn(value), true)),
  select_fields: (content, value, type) => rows(selected(rowsIn(content, type), namesIn(value), false)),
  filter_rows_eq: (content, value, type) => rows(filtered(rowsIn(content, type), value)),
  slice_rows: (content, value, type) => rows(rowsIn(content, type).slice(...sliceIn(value))),
  slice_lines: (content, value) => lines(linesIn(content).slice(...sliceIn(value))),
  head: (content, value) => lines(linesIn(content).slice(0, countIn(value))),
  tail: (content, value) => lines(countIn(value) === 0 ? [] : linesIn(content).slice(-countIn(value))),
  grep: (content, value) => lines(linesIn(content).filter(matcherOf(value))),
};

/** Applies one step of a chain. */
export function modify(content: QuotedContent, [name, value]: readonly [string, string], mediaType: string): QuotedContent {
  const modifier = Object.hasOwn(MODIFIERS, name) ? MODIFIERS[name] : undefined;
  if (modifier === undefined) throw new ModifierError(`Unknown modifier prefix: '${name}'`);
  try {
    return modifier(content, value, mediaType);
  } catch (thrown) {
    const what = thrown instanceof ConversionError ? 'Failed to convert data for' : 'Error applying';
    throw new ModifierError(`${what} modifier '${name}': ${thrown instanceof Error ? thrown.message : 'unknown'}`);
  }
}

/** The content as a text in a format of SAM. An unknown format is `text`. */
export function contentText(content: QuotedContent, format: string, mediaType: string): string {
  switch (format.trim().toLowerCase()) {
    case 'json':
      return JSON.stringify(jsonIn(content));
    case 'json_pretty':
      return JSON.stringify(jsonIn(content), null, 2);
    case 'csv':
      return writeCsv(rowsIn(content, mediaType));
    case 'datauri':
      return `data:${mediaType};base64,${bytesToBase64(content.kind === 'bytes' ? content.bytes : new TextEncoder().encode(textIn(content)))}`;
    default:
      return textIn(content);
  }
}

/** What a template is filled with. */
export function templateContext(content: QuotedContent, mediaType: string): Json {
  if (content.kind === 'text') return { text: content.text };
  if (content.kind === 'rows' && mediaType.includes('csv'))
    return { headers: Object.keys(content.rows[0] ?? {}), data_rows: content.rows.map((row) => Object.values(row)) };
  const json = jsonIn(content);
  return Array.isArray(json) ? { items: json } : json;
}

function rows(found: readonly JsonObject[]): QuotedContent {
  return { kind: 'rows', rows: found };
}

function lines(found: readonly string[]): QuotedContent {
  return { kind: 'text', text: found.join('') };
}

function textIn(content: QuotedContent): string {
  switch (content.kind) {
    case 'bytes':
      throw new ConversionError('Cannot convert binary data to a text');
    case 'text':
      return content.text;
    case 'json':
      return JSON.stringify(content.json);
    case 'rows':
      return writeCsv(content.rows);
  }
}

function jsonIn(content: QuotedContent): Json {
  if (content.kind === 'rows') return [...content.rows];
  if (content.kind === 'json') return content.json;
  try {
    return parseJson(textIn(content));
  } catch {
    throw new ConversionError('Failed to parse string as JSON');
  }
}

function rowsIn(content: QuotedContent, mediaType: string): readonly JsonObject[] {
  if (content.kind === 'rows') return content.rows;
  if (content.kind === 'text' && mediaType.includes('csv')) return readCsv(content.text);
  const json = jsonIn(content);
  const found: readonly Json[] = Array.isArray(json) ? json : [json];
  if (!found.every((each): each is JsonObject => isObject(each))) throw new ConversionError('JSON object is not a list of dictionaries');
  return found;
}

/** The lines of a text, each with its end. */
function linesIn(content: QuotedContent): readonly string[] {
  return textIn(content).match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function namesIn(value: string): readonly string[] {
  return value.split(',').map((name) => name.trim());
}

function selected(all: readonly JsonObject[], names: readonly string[], areRequired: boolean): readonly JsonObject[] {
  const missing = areRequired ? names.find((name) => all[0] !== undefined && !Object.hasOwn(all[0], name)) : undefined;
  if (missing !== undefined) throw new ModifierError(`Column '${missing}' not found in data keys: ${Object.keys(all[0] ?? {}).join(', ')}`);
  const wanted = (row: JsonObject): readonly string[] => (areRequired ? names : names.filter((name) => Object.hasOwn(row, name)));
  return all.map((row) => Object.fromEntries(wanted(row).map((name): [string, Json] => [name, row[name] ?? null])));
}

function filtered(all: readonly JsonObject[], value: string): readonly JsonObject[] {
  const [, name, wanted] = /^([^:]*):(.*)$/s.exec(value) ?? [];
  if (name === undefined || wanted === undefined)
    throw new ModifierError(`Invalid filter format '${value}'. Expected 'column_name:value'.`);
  return all.filter((row) => cellText(row[name.trim()] ?? null) === wanted.trim());
}

/** `start:end` of Python. Negative numbers count from the end, in both languages. */
function sliceIn(value: string): [number, number | undefined] {
  const [, start, end] = /^(-?\d*)\s*:\s*(-?\d*)$/.exec(value.trim()) ?? [];
  if (start === undefined || end === undefined) throw new ModifierError(`Invalid slice format '${value}'. Expected 'start:end'.`);
  return [Number(start), end === '' ? undefined : Number(end)];
}

function countIn(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new ModifierError(`Invalid count '${value}'`);
  return Number(value);
}

/** A literal, an escape or a class: each matches one character, so a search takes linear time. */
const ONE_BY_ONE = /^(?:\\[dwsDWSb.^$*+?()[\]{}\\/-]|\[(?:\\.|[^\]\\])+\]|[^\\*+?(){}[\]])*$/u;

/**
 * Whether a line matches a regular expression. An agent writes the expression, so only `.*` and what
 * matches one character are accepted: others can take exponential time.
 */
function matcherOf(pattern: string): (line: string) => boolean {
  const pieces = pattern.replace(/^\.\*|\.\*$/g, '').split('.*');
  if (!pieces.every((piece) => ONE_BY_ONE.test(piece))) throw new ModifierError(`Invalid regex pattern '${pattern}'`);
  const searches = pieces.map((piece) => new RegExp(piece, 'g'));
  return (line) => {
    let from = 0;
    return searches.every((search) => {
      search.lastIndex = from;
      const found = search.exec(line.replace(/\r?\n$/, ''));
      from = search.lastIndex;
      return found !== null;
    });
  };
}
