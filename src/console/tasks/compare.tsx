import { useEffect, useMemo, useState } from 'preact/hooks';
import type { AdminTask } from '#protocol';
import { getTextFromMessage } from '#protocol';
import { admin } from '../api.ts';
import { go } from '../route.ts';
import { Ago, Problem, StateBadge, sized } from '../ui/basic.tsx';
import { comparison } from './again.tsx';
import type { Side } from './differing.ts';
import { linesOf } from './differing.ts';
import { TaskLog } from './log.ts';
import type { Span } from './spans.ts';
import { spansOf } from './spans.ts';
import { Waterfall } from './waterfall.tsx';
import './compare.css';

/** Two runs side by side: figures, timelines, and outputs with the lines that differ. */
export function Compare({ one, other }: { readonly one: string; readonly other: string }) {
  const [left, right] = [useLog(one), useLog(other)];
  const [mine, theirs] = useMemo(
    () => linesOf(outputOf(left), outputOf(right)),
    [left.about.value, right.about.value, left.events.value, right.events.value],
  );
  const [spans, others] = [useSpans(left), useSpans(right)];
  const lengthMs = Math.max(lengthOf(spans), lengthOf(others));
  return (
    <div class="page">
      <p class="crumb">
        <a href="/console/tasks">Tasks</a> / <a href={`/console/tasks/${encodeURIComponent(one)}`}>{requestOf(left) || one}</a> / compare
      </p>
      <h1>{titleFor(requestOf(left), requestOf(right), other)}</h1>
      {other === '' ? <Choose one={one} /> : null}
      <div class="compare">
        <Run order="First" log={left} lines={mine} spans={spans} lengthMs={lengthMs} />
        {other === '' ? null : <Run order="Second" log={right} lines={theirs} spans={others} lengthMs={lengthMs} />}
      </div>
    </div>
  );
}

function useLog(id: string): TaskLog {
  const log = useMemo(() => new TaskLog(id), [id]);
  useEffect(() => {
    if (id !== '') void log.follow();
    return () => log.close();
  }, [log, id]);
  return log;
}

/** The text of the first message. */
function requestOf({ about }: TaskLog): string | undefined {
  const first = about.value?.task.history?.find(({ role }) => role === 'ROLE_USER');
  return first === undefined ? undefined : getTextFromMessage(first).replaceAll(/\s+/g, ' ').trim();
}

function titleFor(mine: string | undefined, theirs: string | undefined, other: string): string {
  if (other === '') return 'Compare with another run';
  if (mine === undefined || theirs === undefined) return 'Two runs';
  return mine === theirs ? 'Two runs of one request' : 'Two runs, with different requests';
}

/** All texts that the agent produced. */
function outputOf({ about }: TaskLog): string {
  const task = about.value?.task;
  const made = (task?.artifacts ?? []).map(({ parts }) =>
    parts.map((part) => part.text ?? JSON.stringify(part.data ?? part.filename ?? '')).join(''),
  );
  const closing = task?.status.message;
  return [...made, ...(closing === undefined ? [] : [getTextFromMessage(closing)])].filter((text) => text !== '').join('\n');
}

function useSpans(log: TaskLog): readonly Span[] {
  return useMemo(() => (log.isWhole ? spansOf(log.events.value, 0) : []), [log.events.value, log.isWhole]);
}

/** From the start of the first bar to the end of the last. */
function lengthOf(spans: readonly Span[]): number {
  return spans.length === 0 ? 0 : Math.max(...spans.map(({ to }) => to)) - Math.min(...spans.map(({ from }) => from));
}

interface RunProps {
  readonly order: 'First' | 'Second';
  readonly log: TaskLog;
  readonly lines: Side;
  readonly spans: readonly Span[];
  /** Both timelines have this length, so that equal bars took equally long. */
  readonly lengthMs: number;
}

function Run({ order, log, lines, spans, lengthMs }: RunProps) {
  const about = log.about.value;
  if (about === undefined) return <Problem text={log.problem.value} />;
  const isAllOwn = lines.every(({ text, isOwn }) => isOwn || text === '');
  return (
    <section aria-label={`${order} run of ${about.agent}`}>
      <h2 class="row">
        <StateBadge state={about.state} /> <a href={`/console/tasks/${encodeURIComponent(about.id)}`}>{about.agent}</a>
        <span class="run-size">
          {about.last.toLocaleString('en')} events, {sized(about.bytes)}
        </span>
      </h2>
      <p class="request">{requestOf(log) ?? ''}</p>
      <Waterfall
        label={`Timeline of the ${order.toLowerCase()} run`}
        spans={spans}
        lengthMs={lengthMs}
        shownUpTo={Number.POSITIVE_INFINITY}
        onPick={() => go(`/tasks/${encodeURIComponent(about.id)}`)}
      />
      <h2>Output</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <pre class={isAllOwn ? 'output panel unlike' : 'output panel'} tabIndex={0}>
        {lines.map(({ text, isOwn }, at) => (
          <span key={at} class={isOwn ? 'own' : ''}>
            {text}
            {'\n'}
          </span>
        ))}
      </pre>
    </section>
  );
}

const AMONG = 100;

/** Tasks with the same request, among the newest, and a field for the id of any other. */
function Choose({ one }: { readonly one: string }) {
  const [same, setSame] = useState<readonly AdminTask[] | undefined>(undefined);
  const [id, setId] = useState('');
  useEffect(() => {
    const look = async (): Promise<readonly AdminTask[]> => {
      const { tasks } = await admin.tasks(new URLSearchParams({ pageSize: String(AMONG) }));
      const words = await admin.words([...new Set([one, ...tasks.map((task) => task.id)])].slice(0, AMONG));
      const text = words.find((each) => each.id === one)?.text;
      const ids = new Set(words.filter((each) => each.text === text).map((each) => each.id));
      return tasks.filter(({ id: other }) => other !== one && ids.has(other));
    };
    look().then(setSame, () => setSame([]));
  }, [one]);
  return (
    <form
      class="panel compare-choose"
      onSubmit={(event) => {
        event.preventDefault();
        if (id !== '') go(comparison(one, id));
      }}
    >
      <p>
        {same === undefined
          ? '…'
          : same.length === 0
            ? 'No other task among the newest has this request.'
            : 'Other tasks with this request:'}
      </p>
      <ul>
        {(same ?? []).map((each) => (
          <li key={each.id}>
            <a href={`/console${comparison(one, each.id)}`}>{each.agent}</a> <StateBadge state={each.state} />{' '}
            <span class="dim">
              <Ago at={each.statusAt} />
            </span>
          </li>
        ))}
      </ul>
      <div class="row">
        <input type="text" aria-label="Task id" placeholder="Task id" value={id} onInput={(event) => setId(event.currentTarget.value)} />
        <button type="submit">Compare</button>
      </div>
    </form>
  );
}
