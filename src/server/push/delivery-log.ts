import type { DeliveryOutcome, WebhookDelivery } from '#engine';
import type { AdminAttempt, AdminAttemptMessage, AdminAttemptsRequest } from '#protocol';
import { cleanedText } from '../observability/log.ts';
import { bodyOf } from '../traffic/redact.ts';

/** What the sender of webhooks knows of an attempt. */
export interface TriedDelivery {
  readonly delivery: WebhookDelivery;
  readonly outcome: DeliveryOutcome;
  readonly ms: number;
  /** The request's headers. */
  readonly sent: Headers | undefined;
  readonly answer: WebhookAnswer | undefined;
}

/** A webhook's response. */
export interface WebhookAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** The latest attempts to deliver to webhooks, in memory. */
export interface DeliveryLog {
  add(tried: TriedDelivery): void;
  shown(request: AdminAttemptsRequest): readonly AdminAttempt[];
  /** Removes the attempts of a task, or all. */
  clear(taskId?: string): void;
}

const ATTEMPTS_MAX = 300;
const BODY_CHARS_MAX = 8192;
const ANSWER_CHARS_MAX = 2048;
/** Headers that are shown. Others may hold a credential. */
const SHOWN =
  /^(content-(type|length)|webhook-(id|timestamp|signature)|traceparent|user-agent|retry-after|date|server|location|x-request-id)$/;

interface Attempt extends TriedDelivery {
  readonly n: number;
  readonly at: string;
  readonly about: NonNullable<WebhookDelivery['about']>;
}

/** Starts without attempts. They are cleaned when they are read, because most never are. */
export function createDeliveryLog(): DeliveryLog {
  let attempts: Attempt[] = [];
  let last = 0;
  return {
    add: (tried) => {
      const { about, ...delivery } = tried.delivery;
      if (about === undefined) return;
      last += 1;
      const body = tried.delivery.body.slice(0, BODY_CHARS_MAX + 1);
      attempts.push({ ...tried, n: last, at: new Date().toISOString(), about, delivery: { ...delivery, body } });
      if (attempts.length > ATTEMPTS_MAX) attempts.shift();
    },
    shown: ({ taskId, after = 0 }) =>
      attempts
        .filter(({ n, about }) => n > after && (taskId === undefined || about.task === taskId))
        .map(shownAttempt)
        .reverse(),
    clear: (taskId) => {
      attempts = taskId === undefined ? [] : attempts.filter(({ about }) => about.task !== taskId);
    },
  };
}

function shownAttempt({ n, at, about, delivery, outcome, ms, sent, answer }: Attempt): AdminAttempt {
  return {
    ...{ n, at, agent: about.agent, taskId: about.task, configId: about.config, seq: about.seq },
    webhookId: delivery.id,
    url: addressOf(delivery.url),
    outcome: outcome.kind,
    ...('problem' in outcome ? { problem: cleanedText(outcome.problem) } : {}),
    ms: Math.round(ms),
    request: messageOf(sent, delivery.body, BODY_CHARS_MAX),
    ...(answer === undefined ? {} : { response: { status: answer.status, ...messageOf(answer.headers, answer.body, ANSWER_CHARS_MAX) } }),
  };
}

function messageOf(headers: Headers | undefined, body: string, charsMax: number): AdminAttemptMessage {
  const isCut = body.length > charsMax;
  return {
    headers: [...(headers ?? [])].map(([name, value]) => [name, SHOWN.test(name) ? cleanedText(value) : '[removed]'] as const),
    body: isCut ? cleanedText(body.slice(0, charsMax)) : bodyOf(body),
    isCut,
  };
}

/** Receivers often put a secret into the query, or a password before the host. */
function addressOf(text: string): string {
  const url = URL.parse(text);
  if (url === null) return '';
  const query = [...url.searchParams.keys()].map((name) => `${encodeURIComponent(name)}=[removed]`).join('&');
  return `${url.origin}${url.pathname}${query === '' ? '' : `?${query}`}`;
}
