import type { AdminRestart, Logged, Task } from '#protocol';
import { DIALECTS, TRACE_NOTE } from '#protocol';
import { placeOf } from '../agents/known.ts';
import { health } from '../ops/watch.ts';
import { copyText, sized, took, when } from '../ui/basic.tsx';
import { Icon } from '../ui/icons.tsx';
import type { TaskLog } from './log.ts';
import { costOf, durationMs } from './log.ts';

const ON_RESTART: Readonly<Record<AdminRestart, string>> = {
  nothing: '',
  waits: 'keeps waiting for the answer',
  starts: 'the turn starts',
  resumes: 'the agent continues where it was',
  repeats: 'the agent runs the turn again',
  fails: 'the task fails',
  stays: 'stays as it is, until its agent is served',
};

/** The page of the task's trace, if the node is configured with one and the task has a trace. */
function traceLink({ metadata }: Task): readonly (readonly [string, string, string])[] {
  const id = metadata?.[TRACE_NOTE];
  const url = health.value?.traceUrl;
  if (typeof id !== 'string' || url === undefined || !/^https?:\/\//.test(url)) return [];
  return [['Trace', id.slice(0, 8), url.replaceAll('{traceId}', encodeURIComponent(id))]];
}

const IDS: ReadonlySet<string> = new Set(['Task', 'Context']);
const RESTART = 'If the node restarts';

/** Owner, agent, size and duration, and what a restart would do. */
export function Facts({ log, events }: { readonly log: TaskLog; readonly events: readonly Logged[] }) {
  const about = log.about.value;
  if (about === undefined) return null;
  const ms = durationMs(events, about);
  const onRestart = ON_RESTART[about.onRestart];
  const facts: readonly (readonly [string, string, string?])[] = [
    ['Agent', about.agent, `/console${placeOf(about.agent)}`],
    ['Caller', about.principal, `/console/tasks?principal=${encodeURIComponent(about.principal)}`],
    ['Duration', ms === undefined ? '…' : took(ms)],
    ['Last change', when(about.statusAt)],
    ['Dialect', DIALECTS.find(({ id }) => id === about.dialect)?.title ?? about.dialect],
    ['Log', `${about.last.toLocaleString('en')} events, ${sized(about.bytes)}`],
    ...traceLink(about.task),
    ...(onRestart === '' ? [] : [[RESTART, onRestart] as const]),
    ...costOf(about.task),
    ['Task', about.alias ?? about.id],
    ['Context', about.contextId, `/console/tasks?contextId=${encodeURIComponent(about.contextId)}`],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value, to]) => (
        <div key={name} class={IDS.has(name) ? 'wide id' : name === RESTART ? 'wide' : ''}>
          <dt>{name}</dt>
          <dd title={value}>
            {to === undefined ? IDS.has(name) ? <code>{value}</code> : value : <Link to={to} words={value} />}
            {IDS.has(name) ? <CopyId id={value} of={name} /> : null}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function CopyId({ id, of }: { readonly id: string; readonly of: string }) {
  return (
    <button type="button" class="copy-id" aria-label={`Copy the id of the ${of.toLowerCase()}`} onClick={() => void copyText(id, id)}>
      <Icon name="copy" />
    </button>
  );
}

function Link({ to, words }: { readonly to: string; readonly words: string }) {
  const isElsewhere = !to.startsWith('/');
  return (
    <a href={to} {...(isElsewhere ? { target: '_blank', rel: 'noopener noreferrer' } : {})}>
      {words}
    </a>
  );
}
