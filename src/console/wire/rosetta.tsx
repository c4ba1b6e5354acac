import { useEffect, useMemo, useState } from 'preact/hooks';
import type { AgentCard, Dialect, Json, Lost, SendRequest, Task } from '#protocol';
import { createUserMessage, DEFAULT_READ_LIMITS, DIALECTS, encodeWithLosses, writeCardWithLosses } from '#protocol';
import { agents, clientFor } from '../agents/known.ts';
import { admin, wordsFor } from '../api.ts';
import { go, query } from '../route.ts';
import { differingPaths } from '../tasks/differing.ts';
import { Copy, Problem } from '../ui/basic.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { MAIN } from './dialects.ts';

const ENV = { ids: { next: () => crypto.randomUUID() }, limits: DEFAULT_READ_LIMITS };

/** The object that is shown in every dialect. */
type Subject =
  | { readonly kind: 'request'; readonly value: SendRequest }
  | { readonly kind: 'task'; readonly value: Task }
  | { readonly kind: 'card'; readonly value: AgentCard };

interface Told {
  readonly json: Json | undefined;
  readonly lost: readonly Lost[];
  readonly method: string | undefined;
}

/** A field of the draft of 1.1, which the node itself adds: that a dialect does not have it is no loss. */
function isDraft(path: string): boolean {
  return /(^|\.)generation$/.test(path);
}

/** The subject in one dialect, with what that dialect can't express. */
function tellIn(dialect: Dialect, subject: Subject): Told {
  switch (subject.kind) {
    case 'request': {
      const method = dialect.methods.stream ?? dialect.methods.send;
      const { json, lost } = encodeWithLosses(dialect, ['send.request', subject.value], ENV);
      return { json: { jsonrpc: '2.0', id: 1, method: method ?? '', params: json }, lost, method };
    }
    case 'task': {
      // A dialect without a get operation shows the task as the response to a send.
      const { get } = dialect.methods;
      const { json, lost } =
        get === undefined
          ? encodeWithLosses(dialect, ['send.result', { task: subject.value }], ENV)
          : encodeWithLosses(dialect, ['get.result', subject.value], ENV);
      return { json, lost: lost.filter(({ path }) => !isDraft(path)), method: get };
    }
    case 'card': {
      const { json, lost } = writeCardWithLosses(dialect, subject.value, ENV);
      return { json, lost, method: undefined };
    }
  }
}

/**
 * The same object in every dialect, with the fields that each loses. The losses are found by writing,
 * reading back and comparing.
 */
export function Rosetta() {
  const taskId = query.value.get('task') ?? '';
  const agent = query.value.get('agent') ?? '';
  const [subject, setSubject] = useState<Subject | undefined>(undefined);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    setProblem('');
    load(taskId, agent).then(setSubject, (thrown: unknown) => setProblem(wordsFor(thrown)));
  }, [taskId, agent]);
  return (
    <section aria-label="Rosetta view">
      <p class="lead">
        One object, as each of the {MAIN.length} dialects writes it. What a reader of that dialect can no longer know is listed in red.
      </p>
      <Pick taskId={taskId} agent={agent} />
      <Problem text={problem} />
      {subject === undefined ? null : <SideBySide subject={subject} />}
    </section>
  );
}

/** The subject of the address: a task, a card, or else a sample request. */
async function load(taskId: string, agent: string): Promise<Subject> {
  if (taskId !== '') return { kind: 'task', value: (await admin.task(taskId)).task };
  if (agent !== '') {
    const { card } = await clientFor({ name: agent });
    if (card === undefined) throw new Error(`${agent} has no card`);
    return { kind: 'card', value: card };
  }
  return {
    kind: 'request',
    value: {
      message: {
        ...createUserMessage([{ text: 'Summarise this file.' }, { raw: 'SGVsbG8=', mediaType: 'text/plain', filename: 'hello.txt' }]),
        metadata: { priority: 'high' },
      },
      configuration: { acceptedOutputModes: ['text/plain'], historyLength: 3 },
    },
  };
}

/** The form that chooses the subject. */
function Pick({ taskId, agent }: { readonly taskId: string; readonly agent: string }) {
  const [id, setId] = useState(taskId);
  useEffect(() => setId(taskId), [taskId]);
  return (
    <form
      class="row pick"
      onSubmit={(event) => {
        event.preventDefault();
        go(`/wire/rosetta${id === '' ? '' : `?task=${encodeURIComponent(id)}`}`);
      }}
    >
      <a class={taskId === '' && agent === '' ? 'button primary' : 'button'} href="/console/wire/rosetta">
        A request
      </a>
      <select
        class={agent === '' ? '' : 'chosen'}
        aria-label="The card of an agent"
        value={agent}
        onChange={(event) => go(`/wire/rosetta?agent=${encodeURIComponent(event.currentTarget.value)}`)}
      >
        <option value="">The card of …</option>
        {(agents.value ?? []).map(({ name }) => (
          <option key={name} value={name}>
            The card of {name}
          </option>
        ))}
      </select>
      <input type="text" aria-label="Task id" placeholder="Task id" value={id} onInput={(event) => setId(event.currentTarget.value)} />
      <button type="submit">Show task</button>
    </form>
  );
}

/** The subject in all dialects. Variants of a dialect are shown on request. */
function SideBySide({ subject }: { readonly subject: Subject }) {
  const [hasVariants, setVariants] = useState(false);
  const told = useMemo(
    () => (hasVariants ? DIALECTS : MAIN).map((dialect) => ({ dialect, ...attempt(dialect, subject) })),
    [subject, hasVariants],
  );
  const [two, setTwo] = useState<readonly [string, string]>(['', '']);
  const [first, second] = two.map((id) => told.find(({ dialect }) => dialect.id === id));
  const marks = useMemo(() => marksOf(first?.told?.json, second?.told?.json), [first, second]);
  const shown = first === undefined || second === undefined || marks === undefined ? told : [first, second];
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={hasVariants} onChange={(event) => setVariants(event.currentTarget.checked)} />
        With the {DIALECTS.length - MAIN.length} spellings that differ within a dialect
      </label>
      <Between told={told} two={two} onTwo={setTwo} />
      <ol class={marks === undefined ? 'rosetta' : 'rosetta two'} aria-label="Dialects">
        {shown.map(({ dialect, told: one, problem }) => (
          <li key={dialect.id} class="panel">
            <header class="spread">
              <h2>{dialect.title}</h2>
              {one === undefined ? (
                <span class="badge">not in this dialect</span>
              ) : one.lost.length === 0 ? (
                <span class="badge badge-ok">nothing lost</span>
              ) : (
                <span class="badge badge-bad">{one.lost.length} lost</span>
              )}
            </header>
            {one === undefined ? (
              <p class="dim">{problem}</p>
            ) : (
              <>
                {one.lost.length === 0 ? null : (
                  <ul class="lost" aria-label={`Lost in ${dialect.title}`}>
                    {one.lost.map((lost) => (
                      <li key={lost.path} title={lost.loss?.clause ?? ''}>
                        <code>{lost.path}</code> {lost.loss?.reason ?? 'not explained: please report it'}
                      </li>
                    ))}
                  </ul>
                )}
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
                <section class="tree-box" tabIndex={0} aria-label={`JSON of ${dialect.title}`}>
                  <JsonTree value={one.json} open={4} {...(marks === undefined ? {} : { marks })} />
                </section>
                <Copy label="Copy JSON" text={() => JSON.stringify(one.json, null, 2)} />
              </>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

interface ToldIn {
  readonly dialect: Dialect;
  readonly told: Told | undefined;
  readonly problem: string;
}

/** The places where two dialects differ. Undefined: no two were chosen. */
function marksOf(one: Json | undefined, other: Json | undefined): ReadonlyMap<string, string> | undefined {
  if (one === undefined || other === undefined) return undefined;
  return new Map(differingPaths(one, other).map((path) => [path, 'differs']));
}

interface BetweenProps {
  readonly told: readonly ToldIn[];
  readonly two: readonly [string, string];
  readonly onTwo: (two: readonly [string, string]) => void;
}

/** Two dialects to compare. What differs between them is marked. */
function Between({ told, two: [one, other], onTwo }: BetweenProps) {
  const choices = told.filter(({ told: has }) => has !== undefined).map(({ dialect }) => dialect);
  const select = (label: string, value: string, onPick: (id: string) => void) => (
    <select aria-label={label} value={value} onChange={(event) => onPick(event.currentTarget.value)}>
      <option value="">any dialect</option>
      {choices.map(({ id, title }) => (
        <option key={id} value={id}>
          {title}
        </option>
      ))}
    </select>
  );
  return (
    <p class="row between">
      Mark what differs between {select('First dialect', one, (id) => onTwo([id, other]))} and{' '}
      {select('Second dialect', other, (id) => onTwo([one, id]))}
    </p>
  );
}

function attempt(dialect: Dialect, subject: Subject): { readonly told: Told | undefined; readonly problem: string } {
  try {
    return { told: tellIn(dialect, subject), problem: '' };
  } catch (thrown) {
    return { told: undefined, problem: wordsFor(thrown) };
  }
}
