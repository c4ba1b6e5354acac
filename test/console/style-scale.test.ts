import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SHEETS: readonly string[] = globSync('src/console/**/*.css', { cwd: ROOT });

/** The lengths of a property in all sheets, without those inside functions. */
function lengths(property: RegExp): readonly string[] {
  const found = SHEETS.flatMap((sheet) => {
    const text = readFileSync(`${ROOT}/${sheet}`, 'utf8');
    return [...text.matchAll(property)].flatMap(
      ([, value = '']) => value.replaceAll(/calc\([^)]*\)/g, '').match(/(?<![\w.-])\d+px/g) ?? [],
    );
  });
  return [...new Set(found)].toSorted((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));
}

it('uses one scale of type and one of spacing, as docs/console.md states them', () => {
  const docs = readFileSync(`${ROOT}/docs/console.md`, 'utf8');
  const listed = (name: string): readonly string[] =>
    (new RegExp(`^\\| ${name} \\| ([\\d, ]+) px`, 'm').exec(docs)?.[1] ?? '').split(', ').map((px) => `${px}px`);
  expect(SHEETS.length).toBeGreaterThan(5);
  expect(lengths(/font-size:([^;]*)/g)).toEqual(listed('type'));
  expect(lengths(/(?:padding|margin|gap)(?:-\w+)?:([^;]*)/g)).toEqual(listed('spacing'));
});

it('names every colour once', () => {
  const other = SHEETS.filter((sheet) => !sheet.endsWith('base.css')).flatMap(
    (sheet) => readFileSync(`${ROOT}/${sheet}`, 'utf8').match(/#[0-9a-f]{3,8}\b/gi) ?? [],
  );
  expect(other).toEqual([]);
});
