import { useEffect, useMemo, useState } from 'preact/hooks';
import type { AdminWholeTask, Task } from '#protocol';
import { getTextFromMessage, isDataPart, isInterrupted, isTerminal } from '#protocol';
import { admin } from '../api.ts';
import { Approval } from '../ops/question.tsx';
import { approvals } from '../ops/watch.ts';
import { useSubject } from '../title.ts';
import { Empty, Problem, StateBadge } from '../ui/basic.tsx';
import { FailureBox } from '../ui/failure.tsx';
import { plainData } from '../ui/plain.ts';
import { Actions } from './actions.tsx';
import { Events } from './events.tsx';
import { Facts } from './facts.tsx';
import { TaskLog, taskAt } from './log.ts';
import { Outcome } from './outcome.tsx';
import { Replay } from './replay.tsx';
import { Seen } from './seen.tsx';
import type { Span } from './spans.ts';
import { spansOf, webhookSpans } from './spans.ts';
import { speakersIn } from './speakers.ts';
import { TaskTree } from './tree.tsx';
import { Waterfall } from './waterfall.tsx';

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
  const spans = useSpans(log);
  const said = about === undefined ? '' : wordsIn(about.task);
  useSubject(said);
  const speakers = useMemo(() => speakersIn(events, about?.agent), [events, about?.agent]);
  if (log.isGone.value) {
    return (
      <Empty title="Task not found" isPage>
        <p>
          It may have been deleted, or its retention time is over. <a href="/console/tasks">All tasks</a>
        </p>
      </Empty>
    );
  }
  if (about === undefined) return log.problem.value === '' ? <p class="loading" /> : <Problem text={log.problem.value} />;
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
      {isPast ? null : <Standing about={about} />}
      <Facts log={log} events={events} />
      <Replay events={events} total={about.last} at={shownUpTo} isWhole={log.isWhole} onMove={setAt} />
      {log.isWhole ? <Waterfall spans={spans} shownUpTo={shownUpTo} onPick={setAt} /> : null}
      <TaskTree id={about.id} state={about.state} />
      <div class="task-columns">
        <Events events={events} shownUpTo={shownUpTo} />
        <section aria-label="Result">{task === undefined ? null : <Outcome task={task} speakers={speakers} />}</section>
      </div>
      {task === undefined || !log.isWhole ? null : (
        <Seen task={task} last={events[shownUpTo - 1]} count={shownUpTo} dialect={about.dialect} />
      )}
    </div>
  );
}

/** The bars of the waterfall. Those of a task at work grow every second. */
function useSpans(log: TaskLog): readonly Span[] {
  const events = log.events.value;
  const state = log.about.value?.state;
  const isGrowing = state !== undefined && !isTerminal(state);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isGrowing) return;
    const timer = setInterval(() => setNow(Date.now()), GROW_MS);
    return () => clearInterval(timer);
  }, [isGrowing]);
  const webhooks = useWebhooks(log.id, events.length);
  return useMemo(() => {
    if (!log.isWhole) return [];
    const own = spansOf(events, isGrowing ? now : 0);
    return webhooks.length === 0 ? own : [...own, ...webhooks].sort((one, other) => one.from - other.from);
  }, [events, log.isWhole, isGrowing, now, webhooks]);
}

/** The deliveries to webhooks of the task. They follow its events, so they are read once more a moment later. */
function useWebhooks(id: string, events: number): readonly Span[] {
  const [spans, setSpans] = useState<readonly Span[]>([]);
  useEffect(() => {
    const look = (): void => {
      admin.attempts(0, id).then(
        (attempts) => setSpans(attempts.length === 0 ? [] : webhookSpans(attempts)),
        () => undefined, // the page itself says that the node does not answer
      );
    };
    const timers = [setTimeout(look, SOON_MS), setTimeout(look, LATER_MS)];
    return () => {
      for (const timer of timers) clearTimeout(timer);
    };
  }, [id, events]);
  return spans;
}

const GROW_MS = 1000;
const SOON_MS = 200;
const LATER_MS = 2000;
const TITLE_CHARS = 120;

/** The start of the first message. */
function wordsIn({ history = [] }: Task): string {
  const first = history.find(({ role }) => role === 'ROLE_USER');
  const said = first === undefined ? '' : getTextFromMessage(first).replaceAll(/\s+/g, ' ').trim();
  const data = first?.parts.find(isDataPart)?.data;
  const text = said === '' && data !== undefined ? plainData(data) : said;
  return text.length > TITLE_CHARS ? `${text.slice(0, TITLE_CHARS - 1)}…` : text;
}

/** What a reader must see first: the question that the task waits for, to be answered here, or why it failed. */
function Standing({ about: { id, state, task } }: { readonly about: AdminWholeTask }) {
  const question = approvals.value.find((one) => one.id === id);
  if (question !== undefined && isInterrupted(state)) return <Approval key={question.last} approval={question} isOnTask />;
  if (state !== 'TASK_STATE_FAILED' && state !== 'TASK_STATE_REJECTED') return null;
  const said = task.status.message === undefined ? '' : getTextFromMessage(task.status.message);
  return <FailureBox said={said === '' ? 'The agent gave no reason.' : said} taskId={id} />;
}
