import type { Task } from '#protocol';
import { getTextFromMessage } from '#protocol';
import { stateText } from './labels.ts';
import { oneLine } from './plain-text.ts';

/** Who has the tasks, and how wide the terminal is. */
export interface TaskRowOptions {
  readonly agent: string;
  readonly columns: number;
  readonly now?: Date;
}

const STATE_WIDTH = 14;
const WORDS_MIN = 10;

/** One line a task for people: when, who, the state, the first words, and the id. */
export function taskRows(tasks: readonly Task[], { agent, columns, now = new Date() }: TaskRowOptions): string {
  const rows = tasks.map((task) => {
    const facts = [
      whenText(task, now),
      oneLine(agent),
      stateText(task.status.state).toLowerCase().replaceAll('_', '-').padEnd(STATE_WIDTH),
    ];
    const width = Math.max(WORDS_MIN, columns - facts.join('  ').length - task.id.length - 4);
    return `${facts.join('  ')}  ${fitted(firstWords(task), width)}  ${task.id}\n`;
  });
  return rows.join('');
}

/** The time of the last change: of day if it was today, otherwise the date. */
function whenText({ status: { timestamp } }: Task, now: Date): string {
  if (timestamp === undefined) return '     ';
  const at = new Date(timestamp);
  const two = (part: number): string => String(part).padStart(2, '0');
  const isToday = at.toDateString() === now.toDateString();
  return isToday ? `${two(at.getHours())}:${two(at.getMinutes())}` : `${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** What the caller said first, as far as the agent sent the history. Otherwise what the agent said last. */
function firstWords({ history = [], status: { message } }: Task): string {
  const asked = history.find(({ role }) => role === 'ROLE_USER') ?? message;
  return asked === undefined ? '' : oneLine(getTextFromMessage(asked));
}

function fitted(text: string, width: number): string {
  return text.length <= width ? text.padEnd(width) : `${text.slice(0, width - 1)}…`;
}
