import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { TaskState } from '#protocol';

export { took } from './took.ts';

const STATES: Readonly<Record<string, readonly [string, string]>> = {
  TASK_STATE_SUBMITTED: ['submitted', 'dim'],
  TASK_STATE_WORKING: ['working', 'live'],
  TASK_STATE_INPUT_REQUIRED: ['needs input', 'warn'],
  TASK_STATE_AUTH_REQUIRED: ['needs auth', 'warn'],
  TASK_STATE_COMPLETED: ['completed', 'ok'],
  TASK_STATE_FAILED: ['failed', 'bad'],
  TASK_STATE_CANCELED: ['canceled', 'dim'],
  TASK_STATE_REJECTED: ['rejected', 'bad'],
};

/** A task state as people say it: `input required`. */
export function stateWord(state: TaskState | string): string {
  return STATES[state]?.[0] ?? state.replace('TASK_STATE_', '').toLowerCase();
}

/** The state of a task in one word. */
export function StateBadge({ state }: { readonly state: TaskState | string }) {
  return <span class={`badge badge-${STATES[state]?.[1] ?? 'dim'}`}>{stateWord(state)}</span>;
}

interface EmptyProps {
  readonly title: string;
  /** It is all that the page has, so its title is that of the page. */
  readonly isPage?: boolean;
  readonly children?: ComponentChildren;
}

/** Shown where a list has nothing. */
export function Empty({ title, isPage = false, children }: EmptyProps) {
  return (
    <div class="empty">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

/** An error message with a button to try again. Nothing for an empty text. */
export function Problem({ text, onAgain }: { readonly text: string; readonly onAgain?: () => void }) {
  if (text === '') return null;
  return (
    <div class="problem" role="alert">
      <span>{text}</span>
      {onAgain === undefined ? null : (
        <button type="button" class="small" onClick={onAgain}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Grows every ten seconds, so that relative times are drawn again. */
const minute = signal(0);
setInterval(() => {
  minute.value += 1;
}, 10_000);

/** A short-lived notification, also for screen readers. */
export const notice = signal('');
let noticeTimer = 0;
/** Shows a short notification. */
export function say(text: string): void {
  notice.value = text;
  clearTimeout(noticeTimer);
  noticeTimer = window.setTimeout(() => {
    notice.value = '';
  }, 4000);
}

/** Copies a text and says so. */
export async function copyText(text: string, label: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied: ${label}`);
  } catch {
    say('The browser did not allow copying.');
  }
}

/** A button that copies a text. A function is called only when the button is used. */
export function Copy({ text, label }: { readonly text: string | (() => string); readonly label: string }) {
  const copy = (): Promise<void> => copyText(typeof text === 'string' ? text : text(), label);
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      {label}
    </button>
  );
}

/** A button that asks for confirmation before it does something irreversible. */
export function Sure({ label, onYes }: { readonly label: string; readonly onYes: () => void }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <span class="row sure">
      {/* One element for both, so that the focus stays, and a double click keeps. */}
      <button type="button" class={isAsking ? '' : 'danger'} onClick={() => setAsking(!isAsking)}>
        {isAsking ? 'Keep' : label}
      </button>
      {isAsking ? (
        <button type="button" class="danger solid" onClick={onYes}>
          {label} for good
        </button>
      ) : null}
    </span>
  );
}

/** Created once: creating a formatter costs more than all its uses on a page. */
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const DAY_AND_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });

/** A time for people, in the zone of the browser. */
export function when(iso: string | number): string {
  const ms = typeof iso === 'number' ? iso : Date.parse(iso);
  return (ms >= new Date().setHours(0, 0, 0, 0) ? TIME : DAY_AND_TIME).format(ms);
}

const SECOND = 1000;
const AGO: readonly (readonly [number, number, string])[] = [
  [60 * SECOND, SECOND, 's'],
  [3600 * SECOND, 60 * SECOND, 'min'],
  [24 * 3600 * SECOND, 3600 * SECOND, 'h'],
  [Number.POSITIVE_INFINITY, 24 * 3600 * SECOND, 'd'],
];

/** How long ago something was, for people: `5 min ago`. */
export function ago(iso: string, now: number = Date.now()): string {
  const ms = now - Date.parse(iso);
  if (ms < 5 * SECOND) return 'just now';
  const [, unit, word] = AGO.find(([below]) => ms < below) ?? [0, SECOND, 's'];
  return `${Math.floor(ms / unit)} ${word} ago`;
}

/** A time relative to now. The exact time is its tooltip. */
export function Ago({ at }: { readonly at: string }) {
  void minute.value;
  return (
    <time dateTime={at} title={when(at)}>
      {ago(at)}
    </time>
  );
}

/** A size for people: `1.2 MB`. */
export function sized(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}
