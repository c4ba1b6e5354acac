import { describe, expect, it } from 'vitest';
import { artifactId, contextId, taskId } from './ids.ts';
import { createAgentTextMessage, createUserMessage } from './message.ts';
import { createFinalTask, createInitialTask, createTaskStatus } from './task.ts';

const ids = { taskId: taskId('task_123'), contextId: contextId('session_456') };
const at = new Date('2024-03-04T12:00:00Z');

describe('creating a task', () => {
  it('gives the status a time in UTC', () => {
    expect(createTaskStatus('TASK_STATE_WORKING', undefined, at)).toEqual({
      state: 'TASK_STATE_WORKING',
      timestamp: '2024-03-04T12:00:00.000Z',
    });
    const message = createAgentTextMessage('Done!');
    expect(createTaskStatus('TASK_STATE_COMPLETED', message, at).message).toBe(message);
    const before = Date.now();
    const now = Date.parse(createTaskStatus('TASK_STATE_WORKING').timestamp ?? '');
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it('creates a submitted task with the message as its history', () => {
    const task = createInitialTask({ ...ids, agentName: 'MyAgent', message: createUserMessage('hi') });
    expect(task).toMatchObject({
      id: 'task_123',
      contextId: 'session_456',
      status: { state: 'TASK_STATE_SUBMITTED' },
      history: [{ parts: [{ text: 'hi' }] }],
      metadata: { agent_name: 'MyAgent' },
    });
    expect(Object.keys(createInitialTask(ids)).toSorted()).toEqual(['contextId', 'id', 'status']);
  });

  it('creates a final task with the given status and no other member', () => {
    const finalStatus = createTaskStatus('TASK_STATE_COMPLETED', createAgentTextMessage('Done!'), at);
    const artifacts = [{ artifactId: artifactId('a'), parts: [{ text: 'x' }] }];
    const task = createFinalTask({ ...ids, finalStatus, artifacts, metadata: { agent_name: 'MyAgent' } });
    expect(task).toEqual({ id: 'task_123', contextId: 'session_456', status: finalStatus, artifacts, metadata: { agent_name: 'MyAgent' } });
    expect(Object.keys(createFinalTask({ ...ids, finalStatus }))).toEqual(['id', 'contextId', 'status']);
  });
});
