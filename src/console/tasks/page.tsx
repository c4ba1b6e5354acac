import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { AdminSnippet, AdminTask } from '#protocol';
import { TASK_STATES } from '#protocol';
import { agents } from '../agents/known.ts';
import { commits } from '../ops/watch.ts';
import { NODE } from '../prefix.ts';
import { go, path, query, rest, takeLeft } from '../route.ts';
import { Empty, Problem, stateWord } from '../ui/basic.tsx';
import { moveBy, usePlainKeys } from '../ui/keys.ts';
import { Menu } from '../ui/menu.tsx';
import { Virtual } from '../ui/virtual.tsx';
import { Bulk } from './bulk.tsx';
import { columnsNow, shownColumns, TASK_COLUMNS, toggleColumn } from './columns.ts';
import { Compare } from './compare.tsx';
import { TaskDetail } from './detail.tsx';
import type { FoundTasks } from './found.ts';
import { FOUND_MAX, useFound } from './found.ts';
import type { Filters } from './list.ts';
import { matches, TaskListState } from './list.ts';
import { TaskHead, TaskRow } from './row.tsx';
import { wantCauses } from './words.ts';
import './tasks.css';

/** `/tasks`, `/tasks/ID`, and `/tasks/ID?compare=OTHER`. */
export function TasksPage() {
  if (path.value === '/tasks') return <List />;
  const [id, other] = [rest('/tasks'), query.value.get('compare')];
  return other === null ? <TaskDetail key={id} id={id} /> : <Compare key={`${id} ${other}`} one={id} other={other} />;
}

function filtersIn(given: URLSearchParams): Filters {
  const one = (name: string): string => given.get(name) ?? '';
  return { agent: one('agent'), status: one('status'), principal: one('principal'), contextId: one('contextId'), text: one('q') };
}

/** Filters are part of the address, so that a view can be saved and shared. */
function filterBy(name: string, value: string): void {
  const next = new URLSearchParams(query.value);
  if (value === '') next.delete(name);
  else next.set(name, value);
  go(`/tasks${next.size === 0 ? '' : `?${next}`}`, { replace: true });
}

const ROW_PX = 46;
const PICKED_MAX = 1000;

/** j and k move between rows, x selects one, and enter opens it, as a link does. */
function press(key: string): void {
  const rows = [...document.querySelectorAll<HTMLElement>('.virtual .task-row a')];
  const at = moveBy(key, rows);
  if (key === 'x') rows[at]?.parentElement?.querySelector('input')?.click();
}

/** After Back, the keys continue at the task that was opened. */
function focusRow(left: string): boolean {
  const row = [...document.querySelectorAll<HTMLAnchorElement>('.virtual .task-row a')].find((link) => link.pathname === left);
  if (document.activeElement === document.body) row?.focus({ preventScroll: true });
  return row !== undefined;
}

/** A search looks at the names and ids of this many tasks. The index of the node has the words of all. */
const NAMED_MAX = 10_000;

/** The tasks of the filters, kept up to date. A search needs many of them. */
function useTasks(filters: Filters, seen: number): TaskListState {
  const { agent, status, principal, contextId, text } = filters;
  const list = useMemo(() => new TaskListState(filters), [agent, status, principal, contextId]);
  useEffect(() => {
    void list.want(1);
    return () => list.close();
  }, [list]);
  useEffect(() => void list.refresh(), [seen]);
  useEffect(() => {
    if (text !== '') void list.want(NAMED_MAX);
  }, [list, text]);
  return list;
}

/** The list of tasks. The filters are in the address, so that a view can be shared. */
function List() {
  const filters = filtersIn(query.value);
  const { status, principal, contextId, text } = filters;
  const [isPaused, setPaused] = useState(false);
  const seen = useRef(commits.value);
  if (!isPaused) seen.current = commits.value;
  const list = useTasks(filters, seen.current);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  usePlainKeys(press);
  const left = useRef(useMemo(takeLeft, []));
  const rows = list.rows.value;
  const found = useFound(filters, seen.current);
  const snippets = new Map<string, AdminSnippet | undefined>(found.tasks.map(({ id, snippet }) => [id, snippet]));
  const shown: readonly AdminTask[] =
    text === '' ? rows : [...found.tasks, ...rows.filter((row) => !snippets.has(row.id) && matches(row, text))];
  const wanted = useMemo(() => (last: number) => void list.want(last), [list]);
  const count = text === '' ? list.total.value : shown.length;
  const pick = useCallback(({ id }: AdminTask): void => {
    setPicked((now) => new Set(now.has(id) ? [...now].filter((one) => one !== id) : [...now, id]));
  }, []);
  const all = shown.slice(0, PICKED_MAX);
  const isAll = all.length > 0 && all.every(({ id }) => picked.has(id));
  return (
    <div
      class="tasks"
      style={{
        '--task-columns': columnsNow()
          .map(({ width }) => width)
          .join(' '),
      }}
    >
      <Bar filters={filters} list={list} shown={shown.length} found={found} isPaused={isPaused} onPause={() => setPaused(!isPaused)} />
      <Bulk
        picked={picked.size === 0 ? [] : pickedIn([...rows, ...shown], picked)}
        onDone={() => {
          setPicked(new Set());
          void list.refresh();
        }}
      />
      <Problem text={list.problem.value} onAgain={() => void list.want(1)} />
      {list.isEverLoaded.value && found.isOver && count === 0 ? (
        <Nothing isFiltered={filters.agent + status + principal + contextId + text !== ''} />
      ) : (
        <>
          <TaskHead isAll={isAll} isFound={text !== ''} onAll={() => setPicked(new Set(isAll ? [] : all.map(({ id }) => id)))} />
          <Virtual
            label="Tasks"
            count={count}
            rowPx={ROW_PX}
            onWanted={wanted}
            onShown={(first, last) => {
              wantCauses(shown.slice(first, last));
              if (left.current !== undefined && focusRow(left.current)) left.current = undefined;
            }}
            isKept
            keyOf={(index) => shown[index]?.id ?? index}
            row={(index) => {
              const task = shown[index];
              const id = task?.id ?? '';
              return <TaskRow task={task} snippet={snippets.get(id)} isPicked={picked.has(id)} onPick={pick} />;
            }}
          />
        </>
      )}
    </div>
  );
}

/** The selected tasks, each once. */
function pickedIn(tasks: readonly AdminTask[], picked: ReadonlySet<string>): readonly AdminTask[] {
  return [...new Map(tasks.filter(({ id }) => picked.has(id)).map((task) => [task.id, task])).values()];
}

interface BarProps {
  readonly filters: Filters;
  readonly list: TaskListState;
  readonly shown: number;
  readonly found: FoundTasks;
  readonly isPaused: boolean;
  readonly onPause: () => void;
}

const FAILED = 'TASK_STATE_FAILED';

/** The filters. Typing is applied after 150 ms. */
function Bar({ filters, list, shown, found, isPaused, onPause }: BarProps) {
  const [text, setText] = useState(filters.text);
  useEffect(() => {
    const timer = setTimeout(() => text === filters.text || filterBy('q', text), 150);
    return () => clearTimeout(timer);
  }, [text, filters.text]);
  const isFailures = filters.status === FAILED;
  const total = list.total.value.toLocaleString('en');
  const words =
    filters.text === ''
      ? `${total} tasks`
      : `${shown.toLocaleString('en')} of ${total}${found.isCut ? `, the newest ${FOUND_MAX} with these words` : ''}${list.total.value > NAMED_MAX ? `; names among the newest ${NAMED_MAX.toLocaleString('en')}` : ''}`;
  return (
    <header class="tasks-bar">
      <h1>Tasks</h1>
      <input
        type="search"
        aria-label="Search tasks"
        placeholder="Search words, agent, caller, id …"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <select aria-label="Agent" value={filters.agent} onChange={(event) => filterBy('agent', event.currentTarget.value)}>
        <option value="">All agents</option>
        {(agents.value ?? []).map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <select aria-label="State" value={filters.status} onChange={(event) => filterBy('status', event.currentTarget.value)}>
        <option value="">All states</option>
        {Object.keys(TASK_STATES)
          .filter((state) => state !== 'TASK_STATE_UNSPECIFIED')
          .map((state) => (
            <option key={state} value={state}>
              {stateWord(state)}
            </option>
          ))}
      </select>
      {filters.principal === '' ? null : <Chip name="principal" label="Caller" value={filters.principal} />}
      {filters.contextId === '' ? null : <Chip name="contextId" label="Conversation" value={filters.contextId} />}
      <span class="dim" role="status">
        {list.isEverLoaded.value ? words : 'Loading …'}
      </span>
      <span class="tasks-tools">
        <button
          type="button"
          aria-pressed={isFailures}
          class={isFailures ? 'chosen' : ''}
          onClick={() => filterBy('status', isFailures ? '' : FAILED)}
        >
          Only failures
        </button>
        <button type="button" aria-pressed={isPaused} class={isPaused ? 'chosen' : ''} onClick={onPause}>
          {isPaused ? 'Continue updates' : 'Pause updates'}
        </button>
        <Columns />
      </span>
    </header>
  );
}

/** Which columns are shown. */
function Columns() {
  return (
    <Menu label="Columns">
      {TASK_COLUMNS.map(({ id, title }) => (
        <label key={id} class="check">
          <input type="checkbox" checked={shownColumns.value.includes(id)} onChange={() => toggleColumn(id)} /> {title}
        </label>
      ))}
    </Menu>
  );
}

interface ChipProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
}

/** A filter that a link has set, to be removed. */
function Chip({ name, label, value }: ChipProps) {
  return (
    <button type="button" class="small chosen" onClick={() => filterBy(name, '')} aria-label={`Remove the filter ${label} ${value}`}>
      {label}: {value.slice(0, CHIP_CHARS)} ×
    </button>
  );
}

const CHIP_CHARS = 18;

/** Shown for an empty list. */
function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No matching tasks">
        <p>
          <a href="/console/tasks">Show all tasks</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No tasks yet">
      <p>
        Send a message to an agent: <a href="/console/chat">in a chat</a>, or with <code>parley ask {NODE} hello</code>. What comes of it is
        listed here at once.
      </p>
    </Empty>
  );
}
