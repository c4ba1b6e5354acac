import { signal } from '@preact/signals';
import type { AdminTask } from '#protocol';

/** A column that the reader can show or hide. State and words are always shown. */
export interface TaskColumn {
  readonly id: string;
  readonly title: string;
  /** Its width in the grid. */
  readonly width: string;
  readonly isUsual: boolean;
  /** Absent: the row computes it. */
  readonly value?: (task: AdminTask) => string;
}

const NAME_WIDTH = 'minmax(72px, 1fr)';

export const TASK_COLUMNS: readonly TaskColumn[] = [
  { id: 'agent', title: 'Agent', width: NAME_WIDTH, isUsual: true, value: ({ agent }) => agent },
  { id: 'who', title: 'Caller', width: NAME_WIDTH, isUsual: true, value: ({ principal }) => principal },
  { id: 'tenant', title: 'Tenant', width: NAME_WIDTH, isUsual: false, value: ({ tenant = '' }) => tenant },
  { id: 'dialect', title: 'Dialect', width: '80px', isUsual: false, value: ({ dialect }) => dialect },
  { id: 'context', title: 'Context', width: NAME_WIDTH, isUsual: false, value: ({ contextId }) => contextId },
  { id: 'id', title: 'Id', width: NAME_WIDTH, isUsual: false, value: ({ id }) => id },
  { id: 'events', title: 'Events', width: '72px', isUsual: false, value: ({ last }) => last.toLocaleString('en') },
  { id: 'took', title: 'Duration', width: '96px', isUsual: true },
  { id: 'when', title: 'Changed', width: '96px', isUsual: true },
];

const KEPT = 'parley.task-columns';

function kept(): readonly string[] {
  const ids = localStorage.getItem(KEPT)?.split(' ');
  return TASK_COLUMNS.filter(({ id, isUsual }) => ids?.includes(id) ?? isUsual).map(({ id }) => id);
}

/** The ids of the shown columns. The browser remembers them. */
export const shownColumns = signal<readonly string[]>(kept());

/** Shows or hides a column. */
export function toggleColumn(id: string): void {
  const ids = shownColumns.value.includes(id) ? shownColumns.value.filter((one) => one !== id) : [...shownColumns.value, id];
  localStorage.setItem(KEPT, ids.join(' '));
  shownColumns.value = ids;
}

/** The shown columns in their order. */
export function columnsNow(): readonly TaskColumn[] {
  return TASK_COLUMNS.filter(({ id }) => shownColumns.value.includes(id));
}
