import { describe, expect, it } from 'vitest';
import type { Task, TaskEvent } from '#protocol';
import { contextId, createAgentTextMessage, createTaskStatus, foldEvent, taskId } from '#protocol';
import { readSamEvent } from './read-answer.ts';

const IDS = { taskId: taskId('t'), contextId: contextId('c') };

function working(text: string): TaskEvent {
  return { statusUpdate: { ...IDS, status: { ...createTaskStatus('TASK_STATE_WORKING'), message: createAgentTextMessage(text) } } };
}

function final(text: string, more: Partial<Task> = {}, state: Task['status']['state'] = 'TASK_STATE_COMPLETED'): TaskEvent {
  return {
    task: {
      id: IDS.taskId,
      contextId: IDS.contextId,
      status: { ...createTaskStatus(state), message: createAgentTextMessage(text) },
      ...more,
    },
  };
}

function folded(events: readonly TaskEvent[]): Task | undefined {
  const first: Task = { id: IDS.taskId, contextId: IDS.contextId, status: createTaskStatus('TASK_STATE_WORKING') };
  return events.reduce<Task | undefined>((task, event) => foldEvent(task, readSamEvent(event, task)), first);
}

describe('an answer of a SAM agent', () => {
  it('is an artifact that grows with every status', () => {
    expect(folded([working('one '), working('two')])?.artifacts).toMatchObject([{ artifactId: 'answer', parts: [{ text: 'one two' }] }]);
  });
  it('has what the agent said before it used a tool, and no second copy in the status', () => {
    const task = folded([working('I look it up. '), working('It is 2.'), final('It is «math:1+1».')]);
    expect(task?.artifacts).toMatchObject([{ parts: [{ text: 'I look it up. It is 2.' }] }]);
    expect(task?.status).toMatchObject({ state: 'TASK_STATE_COMPLETED' });
    expect(task?.status.message).toBeUndefined();
  });
  it('is the final text if nothing was streamed', () => {
    expect(folded([final('It is «math:1+1».')])?.artifacts).toMatchObject([{ parts: [{ text: 'It is 2.' }] }]);
  });
  it('refers to the files that the metadata names', () => {
    const task = folded([final('made', { metadata: { produced_artifacts: [{ filename: 'a b.json', version: 3 }, 'odd'] } })]);
    expect(task?.artifacts?.[1]).toMatchObject({ name: 'a b.json', parts: [{ url: 'artifact://c/a%20b.json?version=3' }] });
  });
  it('keeps its reason when it has failed', () => {
    expect(folded([final('it broke', {}, 'TASK_STATE_FAILED')])?.status.message?.parts).toMatchObject([{ text: 'it broke' }]);
  });
});
