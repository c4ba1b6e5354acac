import { describe, expect, it } from 'vitest';
import { artifactId, messageId, taskId } from './ids.ts';
import type { Message } from './message.ts';
import { turnsOf } from './task-turns.ts';

const said = (id: string, role: Message['role']): Message => ({ messageId: messageId(id), role, parts: [{ text: id }] });
const turns = (artifacts: readonly string[]): readonly (readonly string[])[] =>
  turnsOf({
    id: taskId('t'),
    history: [said('deploy', 'ROLE_USER'), said('Sure?', 'ROLE_AGENT'), said('yes', 'ROLE_USER')],
    artifacts: artifacts.map((name) => ({ artifactId: artifactId(name), parts: [{ text: name }] })),
    status: { state: 'TASK_STATE_COMPLETED' },
  }).map(({ message, artifacts: made, status }) => [
    ...(message === undefined ? [] : [message.messageId]),
    ...made.map((artifact) => artifact.artifactId),
    ...(status.message === undefined ? [] : [status.message.messageId]),
  ]);

describe('the turns of a task', () => {
  it('have the answer after the question that the agent waited for', () => {
    expect(turns(['response'])).toEqual([
      ['deploy', 'Sure?'],
      ['yes', 'response'],
    ]);
    expect(turns(['response', 'report-2024'])).toEqual([
      ['deploy', 'Sure?'],
      ['yes', 'response', 'report-2024'],
    ]);
  });

  it('have each numbered answer at its own message', () => {
    expect(turns(['response', 'response-2'])).toEqual([
      ['deploy', 'response', 'Sure?'],
      ['yes', 'response-2'],
    ]);
  });
});
