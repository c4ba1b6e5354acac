import { computed, signal } from '@preact/signals';
import type { AdminApproval, AdminHealth } from '#protocol';
import { ApiError, admin } from '../api.ts';
import { refused } from '../session.ts';

/** State of the node that every page uses: its health, and open approvals. */
export const health = signal<AdminHealth | undefined>(undefined);
/** Open questions of all agents. */
export const approvals = signal<readonly AdminApproval[]>([]);
/** The node does not answer. */
export const isAway = signal(false);
/** Grows with each commit. Pages with tasks do not have to poll while it stays the same. */
export const commits = computed(() => health.value?.samples.at(-1)?.commits ?? 0);
/** Whether the browser may show notifications. */
export const isNotifying = signal(typeof Notification !== 'undefined' && Notification.permission === 'granted');

const EVERY_MS = 1500;

/** Polls the node while the page is open. Returns a function that stops it. */
export function watchNode(): () => void {
  let isOver = false;
  let timer = 0;
  const turn = async (): Promise<void> => {
    if (refused.value === undefined) await look();
    if (!isOver) timer = window.setTimeout(turn, document.hidden ? EVERY_MS * 4 : EVERY_MS);
  };
  void turn();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/**
 * Reads the node's health. Questions are read only after a commit, because only a commit can add one.
 */
async function look(): Promise<void> {
  try {
    const before = commits.value;
    const isFirst = health.value === undefined;
    health.value = await admin.health();
    if (isFirst || commits.value !== before) await refreshApprovals();
    isAway.value = false;
  } catch (thrown) {
    isAway.value = thrown instanceof ApiError && (thrown.status === 0 || thrown.status >= 500);
  }
}

/** Reads the waiting questions. Notifies about new ones while the page is hidden. */
export async function refreshApprovals(): Promise<void> {
  const known = new Set(approvals.value.map(({ id, last }) => `${id} ${last}`));
  const found = await admin.approvals();
  const fresh = found.filter(({ id, last }) => !known.has(`${id} ${last}`));
  approvals.value = found;
  if (isNotifying.value && document.hidden) for (const { agent, id } of fresh) notify(agent, id);
}

function notify(agent: string, id: string): void {
  const shown = new Notification(`${agent} asks for an answer`, { tag: id, body: 'Open the approvals page of your Parley node.' });
  shown.onclick = () => window.focus();
}

/** Asks the user for permission to show notifications of new approvals. */
export async function allowNotifications(): Promise<void> {
  isNotifying.value = (await Notification.requestPermission()) === 'granted';
}
