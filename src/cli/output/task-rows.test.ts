import { expect, it } from 'vitest';
import type { Task } from '#protocol';
import { createUserMessage } from '#protocol';
import { taskRows } from './task-rows.ts';

it('shows a task in one line: when, who, the state, the first words and the id', () => {
  const now = new Date(2026, 5, 7, 12, 0);
  const task = (id: string, at: Date, words: string): Task => ({
    id: id as Task['id'],
    contextId: 'c' as NonNullable<Task['contextId']>,
    status: { state: 'TASK_STATE_INPUT_REQUIRED', timestamp: at.toISOString() },
    history: [createUserMessage(words)],
  });
  const tasks = [
    task('t-1', new Date(2026, 5, 7, 9, 5), 'deploy\nversion 2'),
    task('t-2', new Date(2026, 5, 1), 'a text that is much too long for one line'),
  ];
  expect(taskRows(tasks, { agent: 'demo', columns: 60, now })).toBe(
    '09:05  demo  input-required  deploy version 2            t-1\n06-01  demo  input-required  a text that is much too l…  t-2\n',
  );
});
