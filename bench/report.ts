import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { CodecRow } from './codec.ts';
import type { Figure } from './figures/figure.ts';

export function figureTable(all: readonly Figure[]): string {
  const lines = all.map(({ what, value, beside, goal }) => `| ${what} | ${value} | ${beside} | ${goal} |`);
  return ['| work | measured | compared with | goal |', '|---|---|---|---|', ...lines].join('\n');
}

export function codecTable(all: readonly CodecRow[]): string {
  const works = [...new Set(all.map((row) => row.work))];
  const base = new Map(all.filter((row) => row.dialect === 'v10').map((row) => [row.work, row.ratio]));
  const cell = (row: CodecRow | undefined): string => {
    if (row === undefined) return 'not in the dialect';
    const beside = row.ratio / (base.get(row.work) ?? row.ratio);
    return `${row.ratio.toFixed(2)} (${row.spread[0].toFixed(2)}–${row.spread[1].toFixed(2)}), ${beside.toFixed(2)} × v10`;
  };
  const lines = [...new Set(all.map((row) => row.dialect))].map((dialect) => {
    const cells = works.map((work) => cell(all.find((row) => row.dialect === dialect && row.work === work)));
    return `| \`${dialect}\` | ${cells.join(' | ')} |`;
  });
  return [`| dialect | ${works.join(' | ')} |`, `|---|${works.map(() => '---').join('|')}|`, ...lines].join('\n');
}

export function machine(rounds: number): string {
  const [first] = cpus();
  return `Node ${process.version}, ${cpus().length} cores (${first?.model.trim() ?? 'unknown'}), ${rounds} rounds in turns, median (quartiles).`;
}

/** Replaces the text between the two marks of a section in docs/benchmarks.md. */
export function writeSection(name: string, text: string): void {
  const file = new URL('../docs/benchmarks.md', import.meta.url);
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const page = readFileSync(file, 'utf8');
  const [head, rest] = page.split(open);
  const tail = rest?.split(close)[1];
  if (head === undefined || tail === undefined) throw new Error(`docs/benchmarks.md has no section ${name}`);
  writeFileSync(file, `${head}${open}\n${text}\n${close}${tail}`);
}
