import { useState } from 'preact/hooks';
import type { AdminHealth, AdminLogLine, AdminSample } from '#protocol';
import { isObject } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { usePolling } from '../poll.ts';
import { query } from '../route.ts';
import { Problem, sized, took, when } from '../ui/basic.tsx';
import { causeIn } from '../ui/cause.ts';
import { JsonTree } from '../ui/json-tree.tsx';
import { Plot } from './plot.tsx';
import { Slowest } from './slowest.tsx';
import './ops.css';

/** The growth of a number per second, between two samples. */
function rates(samples: readonly AdminSample[], read: (sample: AdminSample) => number): readonly number[] {
  return samples.slice(1).map((sample, at) => {
    const before = samples[at];
    if (before === undefined) return 0;
    const seconds = (Date.parse(sample.at) - Date.parse(before.at)) / 1000;
    return seconds <= 0 ? 0 : Math.max(0, (read(sample) - read(before)) / seconds);
  });
}

function latencies(samples: readonly AdminSample[]): readonly number[] {
  return samples.slice(1).map((sample, at) => {
    const before = samples[at];
    const calls = before === undefined ? 0 : sample.calls - before.calls;
    return before === undefined || calls <= 0 ? 0 : ((sample.callSeconds - before.callSeconds) / calls) * 1000;
  });
}

const perSecond = (value: number): string => `${value.toFixed(value < 10 && value > 0 ? 1 : 0)} / s`;
const whole = (value: number): string => String(Math.round(value));
const EVERY_MS = 3000;

/** Figures of the node for the last hour, and its log. */
export function HealthPage() {
  const [known, setKnown] = useState<AdminHealth | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const look = async (): Promise<void> => {
    try {
      setKnown(await admin.healthOfHour());
      setProblem('');
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
  };
  usePolling(look, EVERY_MS);
  if (known === undefined) return <Unknown problem={problem} onAgain={() => void look()} />;
  const { samples, startedAt, version } = known;
  const span = samples.length < 2 ? 0 : Date.parse(samples.at(-1)?.at ?? '') - Date.parse(samples[0]?.at ?? '');
  return (
    <div class="page">
      <h1>Health</h1>
      <p class="lead">
        Running since {when(startedAt)}, Parley {version}. The plots show {span < HOUR_MS ? `the last ${took(span)}` : 'the last hour'}, and
        count failures since the start. Monitoring systems find more at <code>/metrics</code>.
      </p>
      <Plots samples={samples} />
      <Slowest />
      <Logs />
    </div>
  );
}

const HOUR_MS = 3_590_000;

/** Shown until the node has answered. */
function Unknown({ problem, onAgain }: { readonly problem: string; readonly onAgain: () => void }) {
  return (
    <div class="page">
      <h1>Health</h1>
      {problem === '' ? <p class="loading" role="status" /> : <Problem text={problem} onAgain={onAgain} />}
    </div>
  );
}

function Plots({ samples }: { readonly samples: readonly AdminSample[] }) {
  const times = samples.map(({ at }) => Date.parse(at));
  const of = (read: (sample: AdminSample) => number) => ({ times, values: samples.map(read) });
  /** A rate needs two samples. It is drawn where the second one is. */
  const between = (values: readonly number[]) => ({ times: times.slice(1), values });
  const hasStore = samples.at(-1)?.storeBytes !== undefined;
  return (
    <div class="plots">
      <Plot title="Calls" {...between(rates(samples, ({ calls }) => calls))} show={perSecond} />
      <Plot title="Latency of calls" {...between(latencies(samples))} show={(ms) => (ms === 0 ? 'no calls' : took(ms))} least={10} />
      <Plot title="Failed calls" {...of(({ errors }) => errors)} show={whole} />
      <Plot title="Failed or rejected tasks" {...of(({ failed }) => failed)} show={whole} />
      <Plot title="Events" {...between(rates(samples, ({ events }) => events))} show={perSecond} />
      <Plot title="Running tasks" {...of(({ running }) => running)} show={whole} />
      <Plot title="Tasks in the queue" {...of(({ queued }) => queued)} show={whole} />
      <Plot title="Waiting for a person" {...of(({ asking }) => asking)} show={whole} />
      <Plot title="Open streams" {...of(({ streams }) => streams)} show={whole} />
      <Plot title="Memory" {...of(({ memoryBytes }) => memoryBytes)} show={sized} least={100_000_000} />
      {hasStore ? <Plot title="Store on disk" {...of(({ storeBytes }) => storeBytes ?? 0)} show={sized} least={1_000_000} /> : null}
    </div>
  );
}

const SHORT_CHARS = 60;
/** They are links, or say nothing to a reader. */
const UNSAID: ReadonlySet<string> = new Set(['task', 'context', 'request', 'trace', 'span', 'stack', 'reason', 'cause']);
const WHY_CHARS = 200;

/** Why something failed, in a sentence. */
function whyIn({ reason, cause }: Readonly<Record<string, unknown>>): string {
  const said = typeof reason === 'string' ? causeIn(reason) : isObject(cause) ? String(cause['message'] ?? '') : '';
  return said.length > WHY_CHARS ? `${said.slice(0, WHY_CHARS - 1)}…` : said;
}

/** A log line: what happened, the short facts, and the rest on request. */
function LogWords({ message, fields = {} }: { readonly message: string; readonly fields: AdminLogLine['fields'] | undefined }) {
  const { task } = fields;
  const why = whyIn(fields);
  const facts = Object.entries(fields).filter(
    ([name, value]) => !UNSAID.has(name) && ['string', 'number', 'boolean'].includes(typeof value) && String(value).length <= SHORT_CHARS,
  );
  return (
    <>
      <span class="log-message">{message}</span> {why === '' ? null : <strong class="log-why">{why}</strong>}{' '}
      {facts.map(([name, value]) => (
        <span key={name} class="log-fact">
          <span class="dim">{name}</span> {String(value)}
        </span>
      ))}
      {typeof task === 'string' ? <a href={`/console/tasks/${encodeURIComponent(task)}`}>Open the task</a> : null}
      {Object.keys(fields).length === 0 ? null : (
        <details class="log-fields">
          <summary>All fields</summary>
          <JsonTree value={fields} open={1} />
        </details>
      )}
    </>
  );
}

const LEVELS = ['debug', 'info', 'warn', 'error'];
const LINES_MAX = 2000;

/** New log lines, read by polling. */
function Logs() {
  const [lines, setLines] = useState<readonly AdminLogLine[]>([]);
  const [problem, setProblem] = useState('');
  const [least, setLeast] = useState('info');
  usePolling(
    async () => {
      try {
        const more = await admin.logs(lines.at(-1)?.n ?? 0);
        setProblem('');
        if (more.length > 0) setLines([...lines, ...more].slice(-LINES_MAX));
      } catch (thrown) {
        setProblem(wordsFor(thrown));
      }
    },
    2000,
    [lines],
  );
  const about = query.value.get('task') ?? '';
  const shown = lines
    .filter(({ fields }) => about === '' || fields?.['task'] === about)
    .filter(({ level }) => LEVELS.indexOf(level) >= LEVELS.indexOf(least))
    .slice(-300)
    .reverse();
  return (
    <section aria-label="Log">
      <div class="spread">
        <h2>Log</h2>
        <label class="check">
          From
          <select value={least} onChange={(event) => setLeast(event.currentTarget.value)}>
            {LEVELS.map((level) => (
              <option key={level} value={level}>
                {level}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Problem text={problem} />
      {about === '' ? null : (
        <p>
          Only lines about the task <a href={`/console/tasks/${encodeURIComponent(about)}`}>{about}</a>.{' '}
          <a href="/console/health">Show all lines</a>
        </p>
      )}
      {shown.length === 0 ? <p class="dim">No log lines at this level since the node started. Use --log debug to log more.</p> : null}
      <ol class="log panel">
        {shown.map(({ n, time, level, message, fields }) => (
          <li key={n} class={level}>
            <time class="dim">{new Date(time).toLocaleTimeString()}</time>
            <span class="level">{level}</span>
            <div>
              <LogWords message={message} fields={fields} />
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
