import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Logged, Task } from '#protocol';
import { getTextFromMessage, isInterrupted, isTerminal } from '#protocol';
import { placeOf } from '../agents/known.ts';
import { admin, wordsFor } from '../api.ts';
import { placeOfConversation } from '../chat/conversations.tsx';
import { go } from '../route.ts';
import { Copy, Empty, Problem, StateBadge, Sure, say, sized, took, when } from '../ui/basic.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Parts } from '../ui/parts.tsx';
import { Virtual } from '../ui/virtual.tsx';
import { costOf, durationMs, lineOf, TaskLog, taskAt, timeOf } from './log.ts';

/** A task with its log, which can be replayed up to any event. */
export function TaskDetail({ id }: { readonly id: string }) {
  const log = useMemo(() => new TaskLog(id), [id]);
  useEffect(() => {
    void log.follow();
    return () => log.close();
  }, [log]);
  const [at, setAt] = useState<number | undefined>(undefined);
  const about = log.about.value;
  const events = log.events.value;
  const shownUpTo = at ?? events.length;
  const isPast = at !== undefined && at < events.length;
  const task = useMemo(() => (isPast ? taskAt(events, shownUpTo) : about?.task), [isPast, events, shownUpTo, about]);
  if (log.isGone.value) {
    return (
      <Empty title="Task not found">
        <p>
          It may have been deleted, or its retention time is over. <a href="/console/tasks">All tasks</a>
        </p>
      </Empty>
    );
  }
  if (about === undefined) return log.problem.value === '' ? <p class="loading" /> : <Problem text={log.problem.value} />;
  const said = wordsIn(about.task);
  return (
    <div class="page task">
      <p class="crumb">
        <a href="/console/tasks">Tasks</a> / {about.agent}
      </p>
      <div class="spread">
        <h1 class="row">
          <StateBadge state={isPast ? (task?.status.state ?? about.state) : about.state} />{' '}
          <span>{said === '' ? (about.alias ?? about.id) : said}</span>
        </h1>
        <Actions log={log} />
      </div>
      <Problem text={log.problem.value} />
      <Facts log={log} events={events} />
      <Replay count={events.length} total={about.last} at={shownUpTo} isWhole={log.isWhole} onMove={setAt} />
      <div class="task-columns">
        <Timeline events={events} shownUpTo={shownUpTo} />
        <section aria-label="Result">{task === undefined ? null : <Outcome task={task} />}</section>
      </div>
    </div>
  );
}

const TITLE_CHARS = 120;

/** The start of the first message. */
function wordsIn({ history = [] }: Task): string {
  const first = history.find(({ role }) => role === 'ROLE_USER');
  const text = first === undefined ? '' : getTextFromMessage(first).replaceAll(/\s+/g, ' ').trim();
  return text.length > TITLE_CHARS ? `${text.slice(0, TITLE_CHARS - 1)}…` : text;
}

interface ReplayProps {
  readonly count: number;
  /** How many events the task has, also those that are not read yet. */
  readonly total: number;
  readonly isWhole: boolean;
  readonly at: number;
  readonly onMove: (at: number | undefined) => void;
}

/** The slider over the events. */
function Replay({ count, total, isWhole, at, onMove }: ReplayProps) {
  const isPast = at < count;
  const counted = (events: number): string => events.toLocaleString('en');
  if (!isWhole) {
    return (
      <section class="panel replay" aria-label="Replay">
        <p role="status">
          Reading the log: {counted(count)} of {counted(total)} events …
        </p>
      </section>
    );
  }
  return (
    <section class="panel replay" aria-label="Replay">
      <label>
        {isPast ? `After event ${counted(at)} of ${counted(count)}` : `All ${counted(count)} events. Move the slider to replay them.`}
        <input type="range" min={1} max={Math.max(1, count)} value={at} onInput={(event) => onMove(Number(event.currentTarget.value))} />
      </label>
      {isPast ? (
        <button type="button" class="small" onClick={() => onMove(undefined)}>
          Back to now
        </button>
      ) : null}
    </section>
  );
}

const ROW_PX = 34;
const TIMELINE_PX = 420;

/** All events. Only visible rows are in the page, so that long logs stay fast. */
function Timeline({ events, shownUpTo }: { readonly events: readonly Logged[]; readonly shownUpTo: number }) {
  const [picked, setPicked] = useState<number | undefined>(undefined);
  return (
    <section aria-label="Timeline">
      <h2>Timeline</h2>
      <div class="timeline panel" style={{ height: Math.min(TIMELINE_PX, events.length * ROW_PX + 14) }}>
        <Virtual
          label="Events"
          count={events.length}
          rowPx={ROW_PX}
          keyOf={(index) => events[index]?.seq ?? index}
          row={(index) => (
            <EventRow
              logged={events[index]}
              isLater={index >= shownUpTo}
              isPicked={index === picked}
              onPick={() => setPicked(index === picked ? undefined : index)}
            />
          )}
        />
      </div>
      {picked === undefined || events[picked] === undefined ? null : (
        <div class="tree-box">
          <JsonTree value={events[picked]?.event} open={4} />
        </div>
      )}
    </section>
  );
}

interface EventRowProps {
  readonly logged: Logged | undefined;
  readonly isLater: boolean;
  readonly isPicked: boolean;
  readonly onPick: () => void;
}

/** One event on one line. */
function EventRow({ logged, isLater, isPicked, onPick }: EventRowProps) {
  if (logged === undefined) return null;
  const { kind, text } = lineOf(logged.event);
  const time = timeOf(logged.event);
  return (
    <button type="button" class={`event ${isLater ? 'later' : ''}`} aria-pressed={isPicked} onClick={onPick}>
      <span class="dim">{logged.seq}</span>
      <span class={`kind kind-${kind}`}>{kind}</span>
      <span class="event-text">{text}</span>
      <time class="dim">{time === undefined ? '' : new Date(time).toLocaleTimeString()}</time>
    </button>
  );
}

/** Owner, agent, size and duration. */
function Facts({ log, events }: { readonly log: TaskLog; readonly events: readonly Logged[] }) {
  const about = log.about.value;
  if (about === undefined) return null;
  const ms = durationMs(events, about);
  const facts: readonly (readonly [string, string, string?])[] = [
    ['Task', about.alias ?? about.id],
    ['Agent', about.agent, placeOf(about.agent)],
    ['Caller', about.principal, `/tasks?principal=${encodeURIComponent(about.principal)}`],
    ['Context', about.contextId, `/tasks?contextId=${encodeURIComponent(about.contextId)}`],
    ['Dialect', about.dialect],
    ['Last status', when(about.statusAt)],
    ['Duration', ms === undefined ? '…' : took(ms)],
    ['Log', `${about.last.toLocaleString('en')} events, ${sized(about.bytes)}`],
    ...costOf(about.task),
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value, to]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{to === undefined ? value : <a href={`/console${to}`}>{value}</a>}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What can be done with the task in its state. */
function Actions({ log }: { readonly log: TaskLog }) {
  const about = log.about.value;
  if (about === undefined) return null;
  const run = async (what: () => Promise<void>): Promise<void> => {
    try {
      await what();
    } catch (thrown) {
      log.problem.value = wordsFor(thrown);
    }
  };
  const retry = async (): Promise<void> => {
    const { id } = await admin.retry(about.id);
    say('The last message was sent again, in a new task.');
    go(`/tasks/${encodeURIComponent(id)}`);
  };
  const remove = async (): Promise<void> => {
    await admin.remove(about.id);
    say('Task deleted.');
    go('/tasks');
  };
  const cancel = async (): Promise<void> => {
    await admin.cancel(about.id);
    await log.again();
  };
  const isOver = isTerminal(about.state);
  return (
    <div class="row">
      <a class="button" href={`/console${placeOfConversation(about)}`}>
        Open the conversation
      </a>
      {isInterrupted(about.state) ? (
        <a class="button primary" href={`/console/approvals/${encodeURIComponent(about.id)}`}>
          Answer
        </a>
      ) : null}
      {isOver ? (
        <button type="button" onClick={() => void run(retry)}>
          Retry
        </button>
      ) : (
        <button type="button" onClick={() => void run(cancel)}>
          Cancel
        </button>
      )}
      <a class="button" href={`/console/wire/rosetta?task=${encodeURIComponent(about.id)}`}>
        Show in every dialect
      </a>
      <Copy label="Copy JSON" text={() => JSON.stringify(about.task, null, 2)} />
      <Sure label="Delete" onYes={() => void run(remove)} />
    </div>
  );
}

/** Artifacts and messages at the chosen event. */
function Outcome({ task }: { readonly task: Task }) {
  return (
    <>
      <h2>Artifacts</h2>
      {(task.artifacts ?? []).length === 0 ? <p class="dim">None yet.</p> : null}
      {(task.artifacts ?? []).map((artifact) => (
        <div key={artifact.artifactId} class="panel artifact-panel">
          <h3>{artifact.name ?? artifact.artifactId}</h3>
          <Parts parts={artifact.parts} />
        </div>
      ))}
      <h2>History</h2>
      {[...(task.history ?? []), ...(task.status.message === undefined ? [] : [task.status.message])].map((message, at) => (
        <div key={at} class={`history ${message.role === 'ROLE_USER' ? 'from-user' : ''}`}>
          <span class="dim">{message.role === 'ROLE_USER' ? 'caller' : 'agent'}</span>
          <div>
            <Parts parts={message.parts} />
          </div>
        </div>
      ))}
    </>
  );
}
