import { DIALECTS } from '#protocol';

/** The figures of the README. Each comes from the one place where it is measured or declared. */
type Figures = Readonly<Record<string, (benchmarks: string) => string>>;

const FIGURES: Figures = {
  dialects: () => String(DIALECTS.length),
  durableSends: (page) => measured(page, /^\| Parley, durable \| ([\d,]+) sends\/s/m),
  memorySends: (page) => measured(page, /^\| Parley, in memory \| ([\d,]+) sends\/s/m),
  sdkSends: (page) => measured(page, /^\| `@a2a-js\/sdk`[^|]*\| ([\d,]+) sends\/s/m),
  goSends: (page) => measured(page, /^\| `a2a-go`[^|]*\| ([\d,]+) sends\/s/m),
  pythonSends: (page) => measured(page, /^\| `a2a-sdk`[^|]*\| ([\d,]+) sends\/s/m),
  durableMicros: (page) => measured(page, /^\| Parley, durable \|[^|]* ([\d,]+) µs/m),
  memoryMicros: (page) => measured(page, /^\| Parley, in memory \|[^|]* ([\d,]+) µs/m),
  sdkMicros: (page) => measured(page, /^\| `@a2a-js\/sdk`[^|]*\|[^|]* ([\d,]+) µs/m),
  goMicros: (page) => measured(page, /^\| `a2a-go`[^|]*\|[^|]* ([\d,]+) µs/m),
  pythonMicros: (page) => measured(page, /^\| `a2a-sdk`[^|]*\|[^|]* ([\d,]+) µs/m),
  memoryStreamed: (page) => measured(page, /^\| Parley, in memory \|[^|]*\| ([\d,]+) events\/s/m),
  sdkStreamedShort: (page) => measured(page, /^\| `@a2a-js\/sdk`[^|]*\|[^|]*\| ([\d,]+) events\/s/m),
  goStreamed: (page) => measured(page, /^\| `a2a-go`[^|]*\|[^|]*\| ([\d,]+) events\/s/m),
  pythonStreamed: (page) => measured(page, /^\| `a2a-sdk`[^|]*\|[^|]*\| ([\d,]+) events\/s/m),
  streamed: (page) => measured(page, /^\| one stream of 64,000 chunks, durable \| ([\d,]+) /m),
  sdkStreamed: (page) => measured(page, /^\| one stream, the SDK, in memory \|.*4,000 chunks: ([\d,]+)\/s/m),
};

function measured(benchmarks: string, row: RegExp): string {
  const found = row.exec(benchmarks)?.[1];
  if (found === undefined) throw new Error(`docs/benchmarks.md has no row ${row}`);
  return found;
}

/** Replaces the text between `<!-- figure: NAME -->` and `<!-- /figure -->`, which may be inside a line. */
export function withFigures(page: string, benchmarks: string): string {
  return page.replace(/<!-- figure: (\w+) -->.*?<!-- \/figure -->/g, (_, name: string) => {
    const find = FIGURES[name];
    if (find === undefined) throw new Error(`unknown figure ${name}`);
    return `<!-- figure: ${name} -->${find(benchmarks)}<!-- /figure -->`;
  });
}
