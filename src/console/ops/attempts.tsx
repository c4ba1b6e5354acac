import { useState } from 'preact/hooks';
import type { AdminAttempt, AdminAttemptMessage } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { usePolling } from '../poll.ts';
import { go, path, query } from '../route.ts';
import { Ago, Problem, say, stateWord, took, when } from '../ui/basic.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { inWords } from './http-words.ts';

const EVERY_MS = 3000;
const KEPT_MAX = 300;

const OUTCOMES: Readonly<Record<AdminAttempt['outcome'], string>> = {
  delivered: 'ok',
  failed: 'warn',
  refused: 'bad',
  gone: 'bad',
};

/** The log of deliveries: each attempt with its request and response. Nothing until there is one. */
export function DeliveryLog() {
  const [attempts, setAttempts] = useState<readonly AdminAttempt[]>([]);
  const [problem, setProblem] = useState('');
  const look = async (): Promise<void> => {
    try {
      const more = await admin.attempts(attempts[0]?.n ?? 0);
      setProblem('');
      if (more.length > 0) setAttempts([...more, ...attempts].slice(0, KEPT_MAX));
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
  };
  usePolling(look, EVERY_MS, [attempts]);
  const hook = query.value.get('webhook') ?? '';
  const urls = [...new Set(attempts.map(({ url }) => url))];
  const isFailures = query.value.get('only') === 'failures';
  const listed = attempts.filter(({ url, outcome }) => (hook === '' || url === hook) && !(isFailures && outcome === 'delivered'));
  const shown = listed.find(({ n }) => n === Number(query.value.get('n') ?? 0)) ?? listed[0];
  return (
    <section aria-label="Deliveries">
      <h2>Deliveries</h2>
      <Problem text={problem} />
      {attempts.length === 0 ? (
        <p class="dim">No attempts since the start of the node. They appear here as soon as a task with a webhook changes.</p>
      ) : null}
      {attempts.length === 0 ? null : <Hooks urls={urls} hook={hook} isFailures={isFailures} />}
      {shown === undefined ? (
        <p class="dim">{attempts.length === 0 ? '' : 'No attempt has failed.'}</p>
      ) : (
        <div class="attempt-columns">
          <ol class="attempts panel" aria-label="Attempts, newest first">
            {listed.map((attempt) => (
              <li key={attempt.n}>
                <AttemptRow attempt={attempt} isPicked={attempt === shown} tries={triesOf(attempt, attempts)} />
              </li>
            ))}
          </ol>
          <AttemptView key={shown.n} attempt={shown} onSent={() => void look()} />
        </div>
      )}
    </section>
  );
}

/** Which attempt for its event this is. */
function triesOf({ webhookId, url, n }: AdminAttempt, all: readonly AdminAttempt[]): number {
  return all.filter((one) => one.webhookId === webhookId && one.url === url && one.n <= n).length;
}

function pick(change: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(change)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  go(`${path.value}${next.size === 0 ? '' : `?${next}`}`, { replace: true });
}

interface HooksProps {
  readonly urls: readonly string[];
  readonly hook: string;
  readonly isFailures: boolean;
}

/** The filters of the log. They are in the address. */
function Hooks({ urls, hook, isFailures }: HooksProps) {
  return (
    <div class="hooks">
      <label for="webhook">Webhook</label>
      <select id="webhook" value={hook} onChange={(event) => pick({ webhook: event.currentTarget.value, n: '' })}>
        <option value="">{urls.length === 1 ? 'All (1 webhook)' : `All (${urls.length} webhooks)`}</option>
        {urls.map((url) => (
          <option key={url} value={url}>
            {url}
          </option>
        ))}
      </select>
      <button
        type="button"
        class={isFailures ? 'chosen' : ''}
        aria-pressed={isFailures}
        onClick={() => pick({ only: isFailures ? '' : 'failures', n: '' })}
      >
        Only failures
      </button>
    </div>
  );
}

interface AttemptRowProps {
  readonly attempt: AdminAttempt;
  readonly isPicked: boolean;
  readonly tries: number;
}

function AttemptRow({ attempt, isPicked, tries }: AttemptRowProps) {
  const { n, outcome, response, seq, agent, ms, at } = attempt;
  return (
    <button type="button" class="attempt" aria-pressed={isPicked} onClick={() => pick({ n: String(n) })}>
      <span class={`badge badge-${OUTCOMES[outcome]}`}>{response?.status ?? outcome}</span>
      <span>
        {agent}: {eventIn(attempt)}
        {tries > 1 ? `, attempt ${tries}` : ''}
      </span>
      <span class="dim">
        event {seq} · {took(ms)} · <Ago at={at} />
      </span>
    </button>
  );
}

const STATE = /"state":\s*"([\w-]+)"/;
const ARTIFACT = /"artifact(?:Update)?":/;
const NAME = /"name":\s*"([^"\\]{1,60})"/;

/** What the event says, in every dialect: the state, or the name of the artifact. */
function eventIn({ seq, request: { body } }: AdminAttempt): string {
  if (ARTIFACT.test(body)) {
    const name = NAME.exec(body)?.[1];
    return name === undefined ? 'an artifact' : `artifact ${name}`;
  }
  const state = STATE.exec(body)?.[1];
  return state === undefined ? `event ${seq}` : stateWord(state);
}

/** One attempt: what was sent, what came back, and a button that sends the event again. */
function AttemptView({ attempt, onSent }: { readonly attempt: AdminAttempt; readonly onSent: () => void }) {
  const [problem, setProblem] = useState('');
  const { n, url, at, seq, taskId, outcome, problem: why, request, response, ms } = attempt;
  const isGivenUp = outcome === 'gone' || outcome === 'refused';
  const resend = async (): Promise<void> => {
    try {
      await admin.resend(n);
      say('The event is sent again.');
      setProblem('');
      onSent();
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
  };
  return (
    <article class="panel attempt-view" aria-label="Attempt">
      <div class="spread">
        <code>POST {url}</code>
        <button type="button" class="primary" onClick={() => void resend()}>
          Send again
        </button>
      </div>
      <p class="dim">
        event {seq}, {isGivenUp ? 'not tried again' : outcome}, {when(at)}, {took(ms)} ·{' '}
        <a href={`/console/tasks/${encodeURIComponent(taskId)}`}>Open the task</a>
      </p>
      {why === undefined ? null : <p class="problem">{inWords(why)}</p>}
      <Problem text={problem} />
      <Message title="Request" message={request} />
      {response === undefined ? (
        <p class="dim">There was no response.</p>
      ) : (
        <Message title={`Response ${response.status}`} message={response} />
      )}
    </article>
  );
}

function Message({ title, message: { headers, body, isCut } }: { readonly title: string; readonly message: AdminAttemptMessage }) {
  const value = isCut ? undefined : jsonIn(body);
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <dl class="headers">
        {headers.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {body === '' ? (
        <p class="dim">No body.</p>
      ) : (
        <div class="tree-box">{value === undefined ? <pre>{isCut ? `${body} …` : body}</pre> : <JsonTree value={value} open={3} />}</div>
      )}
    </section>
  );
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
