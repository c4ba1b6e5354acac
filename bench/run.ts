import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { benchClient } from './client.ts';
import type { CodecRow } from './codec.ts';
import { benchCodecs } from './codec.ts';
import type { Figure } from './server.ts';
import { benchDialects, benchSends, benchStart, benchStreams } from './server.ts';

/**
 * What is measured: the codecs, or what `--only codec,sends,dialects,streams,start,client` names; `--write` puts the tables
 * into docs/benchmarks.md. bench/engine.ts and bench/store.ts look deeper into one room.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    ms: { type: 'string' },
    only: { type: 'string' },
    write: { type: 'boolean' },
    json: { type: 'boolean' },
  },
});
const rounds = Number(values.rounds ?? 11);
const ms = Number(values.ms ?? 1500);
const only = (values.only ?? 'codec').split(',');

if (only.includes('codec')) {
  const rows = benchCodecs(rounds * 15);
  if (values.json === true) for (const row of rows) console.log(JSON.stringify(row));
  else console.log(table(rows));
  if (values.write === true) writeSection('codec', `${table(rows)}\n\n${machine()}`);
}
const figures = [
  ...(only.includes('sends') ? await benchSends(rounds, ms) : []),
  ...(only.includes('dialects') ? await benchDialects(rounds, ms) : []),
  ...(only.includes('streams') ? await benchStreams(rounds) : []),
  ...(only.includes('start') ? await benchStart(rounds) : []),
];
const client = only.includes('client') ? await benchClient(rounds, ms) : [];
if (client.length > 0) {
  if (values.json === true) for (const figure of client) console.log(JSON.stringify(figure));
  else console.log(figureTable(client));
  if (values.write === true) writeSection('client', `${figureTable(client)}\n\n${machine()}`);
}
if (figures.length > 0) {
  if (values.json === true) for (const figure of figures) console.log(JSON.stringify(figure));
  else console.log(figureTable(figures));
  if (values.write === true) writeSection('server', `${figureTable(figures)}\n\n${machine()}`);
}

function figureTable(all: readonly Figure[]): string {
  const lines = all.map(({ what, value, beside, goal }) => `| ${what} | ${value} | ${beside} | ${goal} |`);
  return ['| work | measured | beside it | goal |', '|---|---|---|---|', ...lines].join('\n');
}

function table(all: readonly CodecRow[]): string {
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

function machine(): string {
  const [first] = cpus();
  return `Node ${process.version}, ${cpus().length} cores (${first?.model.trim() ?? 'unknown'}), ${rounds} rounds in turns, median (quartiles).`;
}

function writeSection(name: string, text: string): void {
  const file = new URL('../docs/benchmarks.md', import.meta.url);
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const page = readFileSync(file, 'utf8');
  const [head, rest] = page.split(open);
  const tail = rest?.split(close)[1];
  if (head === undefined || tail === undefined) throw new Error(`docs/benchmarks.md has no section ${name}`);
  writeFileSync(file, `${head}${open}\n${text}\n${close}${tail}`);
}
