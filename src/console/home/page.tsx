import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AdminTask } from '#protocol';
import { getTextFromMessage } from '#protocol';
import { agents } from '../agents/known.ts';
import { Recent, useRecent } from '../agents/recent.tsx';
import { admin, wordsFor } from '../api.ts';
import { ConversationLink } from '../chat/conversations.tsx';
import { conversations, refreshConversations } from '../chat/listed.ts';
import { approvals, commits, health } from '../ops/watch.ts';
import { taskWords, wantCauses } from '../tasks/words.ts';
import { Ago, Problem } from '../ui/basic.tsx';
import { causeIn } from '../ui/cause.ts';
import { withoutCode } from '../ui/plain.ts';
import './home.css';

const SHOWN = 5;
const WORKING = '/tasks?status=TASK_STATE_WORKING';
const FAILED = '/tasks?status=TASK_STATE_FAILED';
const CAUSE_MAX = 240;

interface Now {
  readonly running: readonly AdminTask[];
  readonly failed: readonly AdminTask[];
  readonly failedCount: number;
}

const now = signal<Now | undefined>(undefined);
const problem = signal('');

const page = (status: string) => admin.tasks(new URLSearchParams({ status, pageSize: String(SHOWN) }));

/** Reads what the node does now, and why tasks failed. */
async function look(): Promise<void> {
  try {
    const [working, submitted, failed] = await Promise.all(['TASK_STATE_WORKING', 'TASK_STATE_SUBMITTED', 'TASK_STATE_FAILED'].map(page));
    const running = [...(working?.tasks ?? []), ...(submitted?.tasks ?? [])].slice(0, SHOWN);
    now.value = { running, failed: failed?.tasks ?? [], failedCount: failed?.totalSize ?? 0 };
    wantCauses([...running, ...(failed?.tasks ?? [])]);
    problem.value = '';
  } catch (thrown) {
    problem.value = wordsFor(thrown);
  }
}

/** Why a task failed. */
function causeFor(id: string): string {
  const cause = taskWords.value.get(id)?.cause;
  if (cause === undefined) return '…';
  return cause === '' ? 'The agent gave no reason.' : causeIn(cause);
}

/** What this node is doing now. */
export function HomePage() {
  const seen = commits.value;
  useEffect(() => {
    void look();
    void refreshConversations();
  }, [seen]);
  const { running = [], failed = [] } = now.value ?? {};
  return (
    <div class="page home">
      <div class="spread">
        <h1>This node</h1>
        <span class="row">
          <a href="/console/shared">Open a shared file</a>
          <a href="/console/tour">Take the tour</a>
        </span>
      </div>
      <Problem text={problem.value} onAgain={() => void look()} />
      <Figures />
      <div class="home-columns">
        <div class="home-column">
          <Section title="Questions for you" none="No agent waits for an answer." count={approvals.value.length} more="/approvals">
            {approvals.value.slice(0, SHOWN).map(({ id, agent, question, statusAt }) => (
              <li key={id} class="home-item">
                <a href={`/console/approvals/${encodeURIComponent(id)}`}>
                  {question === undefined ? `${agent} waits for input` : withoutCode(getTextFromMessage(question)).slice(0, CAUSE_MAX)}
                </a>
                <span class="dim">
                  {agent}, <Ago at={statusAt} />
                </span>
              </li>
            ))}
          </Section>
          <Section title="Failures" none="No task has failed." count={failed.length} more={FAILED}>
            {failed.map((task) => (
              <li key={task.id}>
                <TaskLink task={task} />
                <p class="home-cause">{causeFor(task.id)}</p>
              </li>
            ))}
          </Section>
          <Agents />
        </div>
        <div class="home-column">
          <Section title="Running" none={<NoneYet words="Nothing runs at the moment." />} count={running.length} more={WORKING}>
            {running.map((task) => (
              <li key={task.id}>
                <TaskLink task={task} />
              </li>
            ))}
          </Section>
          <Section
            title="Recent conversations"
            none={<NoneYet words="No conversations yet." />}
            count={conversations.value?.length ?? 0}
            more="/chat"
          >
            {(conversations.value ?? []).slice(0, SHOWN).map((one) => (
              <li key={`${one.principal} ${one.contextId}`}>
                <ConversationLink conversation={one} />
              </li>
            ))}
          </Section>
        </div>
      </div>
    </div>
  );
}

function Figures() {
  return (
    <ul class="home-figures" aria-label="Now">
      <Figure label="Agents" value={agents.value?.length} to="/agents" />
      <Figure label="Running tasks" value={health.value?.samples.at(-1)?.running} to={WORKING} />
      <Figure label="Waiting for a person" value={approvals.value.length} to="/approvals" tone="warn" />
      <Figure label="Failed tasks" value={now.value?.failedCount} to={FAILED} tone="bad" />
    </ul>
  );
}

/** The agents, and what each did lately. */
function Agents() {
  const recent = useRecent();
  const all = agents.value ?? [];
  return (
    <Section title="Agents" none="This node serves no agents. Start it with one: parley serve demo." count={all.length} more="/agents">
      {all.slice(0, SHOWN).map(({ name, title }) => (
        <li key={name} class="home-item">
          <a href={`/console/agents/${encodeURIComponent(name)}`}>{title}</a>
          <Recent tasks={recent.get(name)} />
        </li>
      ))}
    </Section>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: number | undefined;
  readonly to: string;
  /** How the number is coloured unless it is 0. */
  readonly tone?: 'warn' | 'bad';
}

function Figure({ label, value, to, tone }: FigureProps) {
  return (
    <li>
      <a class={`panel ${value === undefined || value === 0 ? '' : (tone ?? '')}`} href={`/console${to}`}>
        <span class="dim">{label}</span>
        <strong>{value === undefined ? '…' : value.toLocaleString('en')}</strong>
      </a>
    </li>
  );
}

function NoneYet({ words }: { readonly words: string }) {
  return (
    <>
      {words} <a href="/console/chat">Start a conversation</a>
    </>
  );
}

interface SectionProps {
  readonly title: string;
  readonly none: ComponentChildren;
  readonly count: number;
  readonly more?: string;
  readonly children: ComponentChildren;
}

function Section({ title, none, count, more, children }: SectionProps) {
  return (
    <section class="panel" aria-label={title}>
      <div class="spread">
        <h2>{title}</h2>
        {more === undefined || count === 0 ? null : (
          <a href={`/console${more}`} aria-label={`All: ${title}`}>
            All
          </a>
        )}
      </div>
      {count === 0 ? <p class="dim">{none}</p> : <ul class="home-list">{children}</ul>}
    </section>
  );
}

function TaskLink({ task: { id, agent, statusAt } }: { readonly task: AdminTask }) {
  return (
    <div class="home-item">
      <a href={`/console/tasks/${encodeURIComponent(id)}`}>{taskWords.value.get(id)?.text || id}</a>
      <span class="dim">
        {agent}, <Ago at={statusAt} />
      </span>
    </div>
  );
}
