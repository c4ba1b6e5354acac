import type { LogEntry } from '#engine';
import { artifactId, contextId, seq, taskId } from '#protocol';

/** Entries whose content follows from their number, so that a reader can verify them. */
export function entriesFor(key: number, from: number, to: number): readonly LogEntry[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => entryFor(key, from + at));
}

function entryFor(key: number, number: number): LogEntry {
  const of = { taskId: taskId(`t${key}`), contextId: contextId('c') };
  const text = `entry ${number} of task ${key} `.repeat(1 + ((key * number) % 7));
  if (number % 3 === 0) {
    return {
      seq: seq(number),
      event: { artifactUpdate: { ...of, append: true, artifact: { artifactId: artifactId('a'), parts: [{ text }] } } },
    };
  }
  return { seq: seq(number), event: { statusUpdate: { ...of, status: { state: 'TASK_STATE_WORKING', timestamp: text } } } };
}
