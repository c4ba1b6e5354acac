/** Labels in a fixed order: the names belong to the metric, the values to each reading. */
type Values = readonly string[];

export interface Counter {
  add(values: Values, by?: number): void;
}

export interface Histogram {
  observe(value: number, values?: Values): void;
}

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** What a gauge reads when it is asked: one number, or one for each set of label values. */
export type Reading = number | readonly (readonly [Values, number])[];

/** Numbers about a running node, in Prometheus' text format 0.0.4. */
export interface Metrics {
  counter(options: MetricOptions): Counter;
  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): Histogram;
  /** `type` is `counter` for a number that only grows and is counted elsewhere. */
  gauge(options: MetricOptions & { readonly type?: 'gauge' | 'counter' }, read: () => Reading): void;
  text(): string;
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function createMetrics(): Metrics {
  const writers: (() => string)[] = [];
  return {
    counter: (options) => {
      const counts = new Map<string, number>();
      writers.push(() => headOf(options, 'counter') + [...counts].map(([key, value]) => `${options.name}${key} ${value}\n`).join(''));
      const keyOf = keyed(options.labels);
      return {
        add: (values, by = 1) => {
          const key = keyOf(values);
          counts.set(key, (counts.get(key) ?? 0) + by);
        },
      };
    },
    histogram: (options) => {
      const series = new Map<string, Series>();
      const keyOf = keyed(options.labels);
      writers.push(() => headOf(options, 'histogram') + [...series.values()].map((each) => seriesText(options, each)).join(''));
      return {
        observe: (value, values = []) => {
          const key = keyOf(values);
          const each = series.get(key) ?? { values, counts: options.buckets.map(() => 0), sum: 0, count: 0 };
          series.set(key, each);
          each.sum += value;
          each.count += 1;
          const at = options.buckets.findIndex((bound) => value <= bound);
          if (at >= 0) each.counts[at] = (each.counts[at] ?? 0) + 1;
        },
      };
    },
    gauge: (options, read) => {
      writers.push(() => {
        const reading = read();
        const rows = typeof reading === 'number' ? [[[], reading] as const] : reading;
        const keyOf = keyed(options.labels);
        return (
          headOf(options, options.type ?? 'gauge') + rows.map(([values, value]) => `${options.name}${keyOf(values)} ${value}\n`).join('')
        );
      });
    },
    text: () => writers.map((write) => write()).join(''),
  };
}

interface Series {
  readonly values: Values;
  readonly counts: number[];
  sum: number;
  count: number;
}

function seriesText({ name, labels = [], buckets }: MetricOptions & { readonly buckets: readonly number[] }, series: Series): string {
  const keyOf = keyed([...labels, 'le']);
  let below = 0;
  const lines = buckets.map((bound, at) => {
    below += series.counts[at] ?? 0;
    return `${name}_bucket${keyOf([...series.values, String(bound)])} ${below}\n`;
  });
  const key = keyed(labels)(series.values);
  lines.push(`${name}_bucket${keyOf([...series.values, '+Inf'])} ${series.count}\n`);
  return `${lines.join('')}${name}_sum${key} ${series.sum}\n${name}_count${key} ${series.count}\n`;
}

function headOf({ name, help }: MetricOptions, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

/** `{agent="echo",operation="send"}`; the few that there are of each metric are put together once. */
function keyed(labels: readonly string[] = []): (values: Values) => string {
  const known = new Map<string, string>();
  return (values) => {
    if (labels.length === 0) return '';
    const joined = values.join('\n');
    const key = known.get(joined) ?? `{${labels.map((label, at) => `${label}="${escaped(values[at] ?? '')}"`).join(',')}}`;
    if (known.size < 10_000) known.set(joined, key);
    return key;
  };
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
