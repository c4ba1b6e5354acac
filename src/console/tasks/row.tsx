import { Fragment } from 'preact';
import { memo } from 'preact/compat';
import type { AdminSnippet, AdminTask } from '#protocol';
import { isTerminal } from '#protocol';
import { Ago, StateBadge, took } from '../ui/basic.tsx';
import { causeIn } from '../ui/cause.ts';
import { columnsNow } from './columns.ts';
import { taskWords } from './words.ts';

interface RowProps {
  readonly task: AdminTask | undefined;
  /** Where a search found the task. */
  readonly snippet?: AdminSnippet | undefined;
  readonly isPicked: boolean;
  readonly onPick: (task: AdminTask) => void;
}

/** One task in the list. */
export const TaskRow = memo(function TaskRow({ task, snippet, isPicked, onPick }: RowProps) {
  if (task === undefined) return <span class="task-row waiting" aria-hidden="true" />;
  const words = taskWords.value.get(task.id);
  const name = words === undefined || words.text === '' ? (task.alias ?? task.id) : words.text;
  return (
    <div class="task-row">
      <input type="checkbox" aria-label={`Select ${name}`} checked={isPicked} onChange={() => onPick(task)} />
      <a href={`/console/tasks/${encodeURIComponent(task.id)}`} title={task.id}>
        <StateBadge state={task.state} />
        {snippet === undefined ? (
          <span class={words === undefined || words.text === '' ? 't-id' : 't-words'}>
            {name}
            {words?.cause === undefined || words.cause === '' ? null : <i class="t-cause">{causeIn(words.cause)}</i>}
          </span>
        ) : (
          <span class="t-words">
            <Snippet snippet={snippet} />
          </span>
        )}
        {columnsNow().map(({ id, value }) => (
          <span key={id} class={`t-more t-${id}`}>
            {value === undefined ? id === 'when' ? <Ago at={task.statusAt} /> : durationOf(task, words?.startedAt) : value(task)}
          </span>
        ))}
      </a>
    </div>
  );
});

const LEAD_CHARS = 20;

/** A piece of text, with what was found marked. */
function Snippet({ snippet: { text, marks } }: { readonly snippet: AdminSnippet }) {
  // What was found must be visible, also in a narrow column.
  const skipped = startOf(text, marks[0]?.[0] ?? 0);
  const ends = [skipped, ...marks.map(([, end]) => end)];
  return (
    <>
      {skipped === 0 ? '' : '…'}
      {marks.map(([start, end], at) => (
        <Fragment key={start}>
          {text.slice(ends[at], start)}
          <mark>{text.slice(start, end)}</mark>
        </Fragment>
      ))}
      {text.slice(ends.at(-1))}
    </>
  );
}

/** Where to begin, so that the place is visible: at a word, a few words before it. */
function startOf(text: string, found: number): number {
  if (found <= LEAD_CHARS) return 0;
  const space = text.indexOf(' ', found - LEAD_CHARS);
  return space === -1 || space >= found ? found - LEAD_CHARS : space + 1;
}

function durationOf({ state, statusAt }: AdminTask, startedAt: string | undefined): string {
  if (startedAt === undefined) return '';
  const until = isTerminal(state) ? Date.parse(statusAt) : Date.now();
  return took(Math.max(0, until - Date.parse(startedAt)));
}

interface TaskHeadProps {
  readonly isAll: boolean;
  /** The rows are those of a search. */
  readonly isFound: boolean;
  readonly onAll: () => void;
}

/** The names of the columns. Screen readers hear the rows as links. */
export function TaskHead({ isAll, isFound, onAll }: TaskHeadProps) {
  return (
    <div class="task-row task-head">
      <input type="checkbox" aria-label="Select all that are loaded" checked={isAll} onChange={onAll} />
      <div aria-hidden="true">
        <span>State</span>
        <span>{isFound ? 'Where it was found' : 'First words'}</span>
        {columnsNow().map(({ id, title }) => (
          <span key={id} class={`t-more t-${id}`}>
            {title}
          </span>
        ))}
      </div>
    </div>
  );
}
