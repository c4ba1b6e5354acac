import type {
  AdminAnswer,
  AdminAnswered,
  AdminApproval,
  AdminAttempt,
  AdminConversation,
  AdminConversationPage,
  AdminDelivery,
  AdminEvent,
  AdminHealth,
  AdminLogLine,
  AdminMesh,
  AdminPage,
  AdminReplica,
  AdminSearchPage,
  AdminTask,
  AdminWholeTask,
  AdminWirePage,
  AdminWords,
} from '#protocol';
import { withPrefix } from './prefix.ts';
import { credentials, refused } from './session.ts';

/** An error response of the node. */
export class ApiError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const ROOT = withPrefix('/api/parley/v1');

/** Calls the admin API. Every failure becomes an `ApiError` with a text for people. */
async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`${ROOT}${path}`, { ...init, headers: { ...credentials(), ...init.headers } });
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiError(0, 'The node does not respond. Check that it is running.');
  }
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T;
  if (response.status === 401) refused.value = 'unknown';
  if (response.status === 403) refused.value = 'forbidden';
  throw new ApiError(response.status, await wordsOf(response));
}

async function wordsOf(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { error?: { message?: string } };
    return body.error?.message ?? `HTTP ${response.status}`;
  } catch {
    return `HTTP ${response.status}`;
  }
}

const one = encodeURIComponent;

interface EventsOptions {
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  readonly isRedacted?: boolean;
}

/** AdminService over HTTP (docs/admin-api.md). */
export const admin = {
  tasks: (query: URLSearchParams, signal?: AbortSignal) => ask<AdminPage>(`/tasks?${query}`, signal === undefined ? {} : { signal }),
  search: (query: URLSearchParams, signal: AbortSignal) => ask<AdminSearchPage>(`/search?${query}`, { signal }),
  task: (id: string) => ask<AdminWholeTask>(`/tasks/${one(id)}`),
  /** Without what is named or looks like a credential. */
  redacted: (id: string) => ask<AdminWholeTask>(`/tasks/${one(id)}?redacted=true`),
  events: async (id: string, after: number, more: EventsOptions = {}) => {
    const wait = more.waitMs === undefined ? '' : `&waitMs=${more.waitMs}`;
    const found = await ask<{ events: readonly AdminEvent[] }>(
      `/tasks/${one(id)}/events?after=${after}${wait}${more.isRedacted === true ? '&redacted=true' : ''}`,
      more.signal === undefined ? {} : { signal: more.signal },
    );
    return found.events;
  },
  conversations: (query: URLSearchParams) => ask<AdminConversationPage>(`/conversations?${query}`),
  rename: ({ contextId, principal, tenant }: AdminConversation, name: string) =>
    ask<AdminConversation>(
      `/conversations/${one(contextId)}:rename`,
      post({ name, principal, ...(tenant === undefined ? {} : { tenant }) }),
    ),
  words: async (ids: readonly string[]) =>
    (await ask<{ words: readonly AdminWords[] }>(`/words?${new URLSearchParams(ids.map((id) => ['task', id]))}`)).words,
  retry: (id: string) => ask<AdminTask>(`/tasks/${one(id)}:retry`, post()),
  cancel: (id: string) => ask<AdminTask>(`/tasks/${one(id)}:cancel`, post()),
  remove: (id: string) => ask<void>(`/tasks/${one(id)}`, { method: 'DELETE' }),
  approvals: async () => (await ask<{ approvals: readonly AdminApproval[] }>('/approvals')).approvals,
  answered: async () => (await ask<{ answered: readonly AdminAnswered[] }>('/approvals?answered=true')).answered,
  answer: (id: string, answer: AdminAnswer) => ask<AdminTask>(`/approvals/${one(id)}`, post(answer)),
  deliveries: async () => (await ask<{ deliveries: readonly AdminDelivery[] }>('/push/deliveries')).deliveries,
  attempts: async (after: number, taskId = '') =>
    (await ask<{ attempts: readonly AdminAttempt[] }>(`/push/attempts?after=${after}${taskId === '' ? '' : `&task=${one(taskId)}`}`))
      .attempts,
  resend: (n: number) => ask<AdminDelivery>(`/push/attempts/${n}:resend`, post()),
  replay: (id: number) => ask<AdminDelivery>(`/push/deliveries/${id}:replay`, post()),
  discard: (id: number) => ask<void>(`/push/deliveries/${id}`, { method: 'DELETE' }),
  /** With the newest sample only. `healthOfHour` has all of them. */
  health: () => ask<AdminHealth>('/health?samples=1'),
  healthOfHour: () => ask<AdminHealth>('/health'),
  mesh: async () => (await ask<{ mesh: AdminMesh | null }>('/mesh')).mesh,
  replicas: async () => (await ask<{ replicas: readonly AdminReplica[] | null }>('/replicas')).replicas,
  wire: (after: number) => ask<AdminWirePage>(`/wire?after=${after}`),
  wireOn: (isOn: boolean) => ask<void>(isOn ? '/wire:start' : '/wire:stop', post()),
  wireClear: () => ask<void>('/wire', { method: 'DELETE' }),
  logs: async (after: number) => (await ask<{ lines: readonly AdminLogLine[] }>(`/logs?after=${after}`)).lines,
};

function post(body: object = {}): RequestInit {
  return { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

/** An error as a sentence for the user. */
export function wordsFor(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
