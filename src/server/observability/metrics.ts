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

/** A metric with its current values. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly points: readonly MetricPoint[];
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
}

/** The value of a metric for one set of label values. */
export interface MetricPoint {
  readonly values: readonly string[];
  /** Of a histogram: the sum of all observed values. */
  readonly value: number;
  /** Of a histogram: how many values were in each bucket, not cumulative, and how many in all. */
  readonly counts?: readonly number[];
  readonly count?: number;
}

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
  /** The values of all metrics. Reading some gauges resets them. */
  families(): readonly MetricFamily[];
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
  const all: { readonly name: string; readonly read: () => MetricFamily }[] = [];
  const add = (options: MetricOptions, family: Pick<MetricFamily, 'type' | 'buckets'>, points: () => readonly MetricPoint[]): void => {
    const { name, help, labels = [] } = options;
    all.push({ name, read: () => ({ name, help, labels, ...family, points: points() }) });
  };
  return {
    counter: (options) => {
      const counts = new Cells(() => ({ count: 0 }));
      add(options, { type: 'counter' }, () => counts.points((values, { count }) => ({ values, value: count })));
      return {
        add: (values, by = 1) => {
          counts.at(values).count += by;
        },
      };
    },
    histogram: (options) => {
      const { buckets } = options;
      const series = new Cells<Series>(() => ({ counts: buckets.map(() => 0), sum: 0, count: 0 }));
      add(options, { type: 'histogram', buckets }, () => series.points((values, { sum, ...each }) => ({ values, value: sum, ...each })));
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
      add(options, { type: options.type ?? 'gauge' }, () => {
        const reading = read();
        return typeof reading === 'number' ? [{ values: NONE, value: reading }] : reading.map(([values, value]) => ({ values, value }));
      });
    },
    text: (isWanted = () => true) => metricsText(all.flatMap(({ name, read }) => (isWanted(name) ? [read()] : []))),
    families: () => all.map(({ read }) => read()),
  };
}

const NONE: Values = [];

/** The cells whose label values begin alike. */
interface Branch<T> {
  readonly next: Map<string, Branch<T>>;
  cell: T | undefined;
}

/**
 * One cell for each set of label values. Lookup must be fast, because each call updates several cells: V8 keeps the hash of each value, and
 * would have to compute that of a joined key.
 */
class Cells<T extends object> {
  readonly #root: Branch<T> = { next: new Map(), cell: undefined };
  readonly #all: { readonly values: Values; readonly cell: T }[] = [];
  readonly #make: () => T;

  constructor(make: () => T) {
    this.#make = make;
  }

  at(values: Values): T {
    let branch = this.#root;
    for (const value of values) {
      let next = branch.next.get(value);
      if (next === undefined) {
        next = { next: new Map(), cell: undefined };
        branch.next.set(value, next);
      }
      branch = next;
    }
    if (branch.cell === undefined) {
      branch.cell = this.#make();
      this.#all.push({ values, cell: branch.cell });
    }
    return branch.cell;
  }

  points(read: (values: Values, cell: T) => MetricPoint): readonly MetricPoint[] {
    return this.#all.map(({ values, cell }) => read(values, cell));
  }
}

interface Series {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** Metrics in Prometheus' text form. */
export function metricsText(families: readonly MetricFamily[]): string {
  return families.map(familyText).join('');
}

/** A metric in Prometheus' text form. */
function familyText(family: MetricFamily): string {
  const { name, help, type, labels, points } = family;
  const lines = points.map((point) =>
    type === 'histogram' ? seriesText(family, point) : `${nameOf({ name, labels }, point.values)} ${point.value}\n`,
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** One series of a histogram. Buckets are cumulative. */
function seriesText({ name, labels, buckets = [] }: MetricFamily, { values, value, counts = [], count = 0 }: MetricPoint): string {
  const bucket = { name: `${name}_bucket`, labels: [...labels, 'le'] };
  let below = 0;
  const lines = buckets.map((bound, at) => {
    below += counts[at] ?? 0;
    return `${nameOf(bucket, [...values, String(bound)])} ${below}\n`;
  });
  lines.push(`${nameOf(bucket, [...values, '+Inf'])} ${count}\n`);
  const whole = (part: string): string => nameOf({ name: `${name}_${part}`, labels }, values);
  return `${lines.join('')}${whole('sum')} ${value}\n${whole('count')} ${count}\n`;
}

/** `calls_total{agent="echo",operation="send"}` */
function nameOf({ name, labels }: Pick<MetricFamily, 'name' | 'labels'>, values: Values): string {
  if (labels.length === 0) return name;
  return `${name}{${labels.map((label, at) => `${label}="${escaped(values[at] ?? '')}"`).join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
