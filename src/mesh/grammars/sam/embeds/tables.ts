import type { Json, JsonObject } from '#protocol';

/** Reads CSV with a header line, as Python's `csv.DictReader` does. */
export function readCsv(text: string): readonly JsonObject[] {
  const [header = [], ...lines] = cellsOf(text);
  return lines.map((cells) => Object.fromEntries(header.map((name, at): [string, Json] => [name, cells[at] ?? null])));
}

/** Writes CSV with a header line. The first row names the columns. */
export function writeCsv(rows: readonly JsonObject[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, ...rows.map((row) => columns.map((name) => cellText(row[name] ?? null)))];
  return lines.map((cells) => cells.map(quoted).join(',')).join('\n');
}

/** What Python's `str` makes of a value in a cell; JSON where both differ for nested values. */
export function cellText(value: Json): string {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** One cell with the character that ends it. Quotes are doubled inside of quotes. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;

function cellsOf(text: string): readonly (readonly string[])[] {
  const lines: string[][] = [];
  let line: string[] = [];
  for (const [all, inQuotes, plain = '', end] of text.matchAll(CELL)) {
    if (all === '' && line.length === 0) break;
    line.push(inQuotes?.replaceAll('""', '"') ?? plain);
    if (end === ',') continue;
    if (line.length > 1 || line[0] !== '') lines.push(line);
    line = [];
    if (end === '') break;
  }
  return lines;
}
