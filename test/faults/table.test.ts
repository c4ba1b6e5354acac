import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** Every fault has a row in docs/faults.md with an outcome and a test, and the test's title names the fault. */
const count = (letter: string, ...numbers: readonly number[]): readonly string[] => numbers.map((number) => `${letter}${number}`);
const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, at) => at + 1);
const IDS = [
  ...count('E', ...upTo(16)),
  ...count('H', ...upTo(17)),
  ...count('I', ...upTo(8)),
  ...count('O', ...upTo(5)),
  ...count('R', ...upTo(8)),
  ...count('W', ...upTo(12)),
  ...count('S', ...upTo(4), ...[6, 7, 8, 9, 10, 11, 12, 13]),
];

interface Row {
  readonly outcome: string;
  readonly files: readonly string[];
}

const ROOT = new URL('../../', import.meta.url);
/** The rows that `npm run faults list` reads from the page. */
const rows = JSON.parse(
  execFileSync(process.execPath, [fileURLToPath(new URL('scripts/faults.mjs', ROOT)), 'list', '--json'], { encoding: 'utf8' }),
) as Readonly<Record<string, Row>>;

/** Whether a title of the file names the fault, alone or in a range such as "I2 to I7". */
function names(code: string, id: string): boolean {
  const [letter = '', number = 0] = [id[0], Number(id.slice(1))];
  const titles = code.match(/^.*(?:describe|suiteNeeding|\bit|\bit\.each)\b[\s\S]*?\{$/gm)?.join('\n') ?? '';
  if (new RegExp(`\\b${id}\\b`).test(titles)) return true;
  return [...titles.matchAll(/\b([A-Z])(\d+) to \1(\d+)\b/g)].some(
    ([, of, first, last]) => of === letter && Number(first) <= number && number <= Number(last),
  );
}

describe('the table of faults', () => {
  it.each(IDS)('has an outcome and a test for %s', (id) => {
    const row = rows[id];
    expect(row?.outcome).toMatch(/\S/);
    if (id === 'E3') return; // needs agents that start processes
    const named = row?.files.filter((file) => names(readFileSync(new URL(file, ROOT), 'utf8'), id));
    expect(named).not.toEqual([]);
    expect(named).toBeDefined();
  });
});
