/** Label values, in the order of the metric's label names. */
type Values = readonly string[];

/** A number that only grows. */
export interface Counter {
  add(values: Values, by?: number): void;
}

/** Counts of observed values in buckets. */
export interface Histogram {
  observe(value: number, values?: Values): void;
}

/** Name and help of a metric. */
export interface MetricOptions {
  /** In Prometheus' form, for example `parley_calls_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** The value of a gauge: one number, or one for each set of label values. */
export type GaugeReading = number | readonly (readonly [Values, number])[];

/** The metrics of a running node, in Prometheus' text format 0.0.4. */
export interface Metrics {
  /** Adds a counter. */
  counter(options: MetricOptions): Counter;
  /** Adds a histogram. `buckets` are upper bounds, in order. */
  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): Histogram;
  /** `read` is called at each scrape. Set `type` to `counter` for a number that only grows. */
  gauge(options: MetricOptions & { readonly type?: 'gauge' | 'counter' }, read: () => GaugeReading): void;
  /** The text of all metrics, or of those that `isWanted` selects. Reading some gauges resets them. */
  text(isWanted?: (name: string) => boolean): string;
}

/** `Content-Type` of the text format. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * An empty set of metrics.
 *
 * ```ts
 * const metrics = createMetrics();
 * const calls = metrics.counter({ name: 'calls_total', help: 'Calls.', labels: ['agent'] });
 * calls.add(['echo']);
 * ```
 */
export function createMetrics(): Metrics {
  const writers: { readonly name: string; readonly write: () => string }[] = [];
  return {
    counter: (options) => {
      const counts = new Cells(() => ({ count: 0 }));
      const write = (): string => headOf(options, 'counter') + counts.text((values, { count }) => `${nameOf(options, values)} ${count}\n`);
      writers.push({ name: options.name, write });
      return {
        add: (values, by = 1) => {
          counts.at(values).count += by;
        },
      };
    },
    histogram: (options) => {
      const { buckets } = options;
      const series = new Cells<Series>(() => ({ counts: buckets.map(() => 0), sum: 0, count: 0 }));
      const write = (): string => headOf(options, 'histogram') + series.text((values, each) => seriesText(options, values, each));
      writers.push({ name: options.name, write });
      return {
        observe: (value, values = NONE) => {
          const each = series.at(values);
          each.sum += value;
          each.count += 1;
          let at = 0;
          while (at < buckets.length && value > (buckets[at] as number)) at += 1;
          if (at < buckets.length) each.counts[at] = (each.counts[at] as number) + 1;
        },
      };
    },
    gauge: (options, read) => {
      const write = (): string => {
        const reading = read();
        const rows = typeof reading === 'number' ? [[NONE, reading] as const] : reading;
        return headOf(options, options.type ?? 'gauge') + rows.map(([values, value]) => `${nameOf(options, values)} ${value}\n`).join('');
      };
      writers.push({ name: options.name, write });
    },
    text: (isWanted = () => true) => writers.flatMap(({ name, write }) => (isWanted(name) ? [write()] : [])).join(''),
  };
}

const NONE: Values = [];

/**
 * One cell for each set of label values. Lookup must be fast, because each call updates several cells.
 */
class Cells<T> {
  readonly #cells = new Map<string, { readonly values: Values; readonly cell: T }>();
  readonly #make: () => T;

  constructor(make: () => T) {
    this.#make = make;
  }

  at(values: Values): T {
    const key = values.length === 1 ? (values[0] as string) : values.join('\n');
    const known = this.#cells.get(key);
    if (known !== undefined) return known.cell;
    const cell = this.#make();
    this.#cells.set(key, { values, cell });
    return cell;
  }

  text(write: (values: Values, cell: T) => string): string {
    return Array.from(this.#cells.values(), ({ values, cell }) => write(values, cell)).join('');
  }
}

interface Series {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** A histogram in Prometheus' text form. Buckets are cumulative. */
function seriesText(
  options: MetricOptions & { readonly buckets: readonly number[] },
  values: Values,
  { counts, sum, count }: Series,
): string {
  const { name, help, labels = [], buckets } = options;
  const bucket = { name: `${name}_bucket`, help, labels: [...labels, 'le'] };
  let below = 0;
  const lines = buckets.map((bound, at) => {
    below += counts[at] ?? 0;
    return `${nameOf(bucket, [...values, String(bound)])} ${below}\n`;
  });
  lines.push(`${nameOf(bucket, [...values, '+Inf'])} ${count}\n`);
  const whole = (part: string): string => nameOf({ name: `${name}_${part}`, help, labels }, values);
  return `${lines.join('')}${whole('sum')} ${sum}\n${whole('count')} ${count}\n`;
}

function headOf({ name, help }: MetricOptions, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

/** `calls_total{agent="echo",operation="send"}` */
function nameOf({ name, labels = [] }: MetricOptions, values: Values): string {
  if (labels.length === 0) return name;
  return `${name}{${labels.map((label, at) => `${label}="${escaped(values[at] ?? '')}"`).join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
