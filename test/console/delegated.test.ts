import { describe, expect, it } from 'vitest';
import type { AdminEvent, Json, JsonObject, Message, Metadata, TaskEvent } from '#protocol';
import { artifactId, contextId, messageId, taskId } from '#protocol';
import { newTurn, take } from '../../src/console/chat/turn.ts';
import { voiceIn } from '../../src/console/delegated.ts';
import { spansOf } from '../../src/console/tasks/spans.ts';
import { grouped, speakersIn } from '../../src/console/tasks/speakers.ts';

const IDS = { taskId: taskId('t'), contextId: contextId('c') };
let made = 0;

const said = (text: string, data?: Json, metadata?: Metadata): Message => {
  made += 1;
  const parts = [{ text, ...(metadata === undefined ? {} : { metadata }) }, ...(data === undefined ? [] : [{ data }])];
  return { messageId: messageId(`m${made}`), role: 'ROLE_AGENT', parts };
};
const status = (message: Message, metadata?: Metadata): TaskEvent => ({
  statusUpdate: {
    ...IDS,
    status: { state: 'TASK_STATE_WORKING', timestamp: new Date(1e12 + made * 100).toISOString(), message },
    ...(metadata === undefined ? {} : { metadata }),
  },
});
const begins = (id: string, agent: string): TaskEvent =>
  status(said(`${id}: started`, { type: 'workflow_node_execution_start', node_id: id, path: id, agent_name: agent }));
const ends = (id: string, more: JsonObject = { status: 'success' }): TaskEvent =>
  status(said(`${id}: over`, { type: 'workflow_node_execution_result', node_id: id, path: id, ...more }));
const result = (id: string): TaskEvent => ({
  artifactUpdate: {
    ...IDS,
    artifact: { artifactId: artifactId(`node:${id}`), name: id, parts: [{ data: { found: 3 } }], metadata: { workflowNode: id } },
  },
});

/** Two agents work at the same time, one of them fails, and the agent itself speaks between them. */
const EVENTS: readonly TaskEvent[] = [
  begins('look', 'finder'),
  begins('write', 'writer'),
  status(said('Reads the archive'), { agent: 'finder' }),
  status(said('Waits for both')),
  status(said('Drafts', undefined, { forwarded_from_peer: 'writer' })),
  status(said('Reads more'), { agent: 'finder' }),
  result('look'),
  ends('look', { status: 'success', sub_task_id: 'far' }),
  ends('write', { status: 'error', error_message: 'no paper' }),
  ends('switch'),
];

describe('messages of delegated agents', () => {
  it('differ from those of the agent itself', () => {
    const update = (event: TaskEvent) => event.statusUpdate ?? expect.fail('a status');
    expect(voiceIn(update(status(said('x'), { agent: 'own' })), 'own')).toBe(undefined);
    expect(voiceIn(update(status(said('x'), { agent: 'own' })), 'other')).toEqual({ kind: 'says', agent: 'own' });
    expect(voiceIn(update(status(said('x'), { agent: 7 })))).toBe(undefined);
    const call = { type: 'tool_use', id: '1', agent: 'finder', title: 'Find it', taskId: 'far' };
    expect(voiceIn(update(status(said('x', call))))).toEqual({
      ...{ kind: 'begins', id: '1', agent: 'finder', description: 'Find it', taskId: 'far' },
    });
    expect(voiceIn(update(status(said('x', { type: 'tool_result', id: '1', agent: 'finder', isError: true }))))).toEqual({
      ...{ kind: 'ends', id: '1', error: 'failed' },
    });
  });

  it('are folded under who said them in a chat, with result, cause and task', () => {
    const turn = newTurn('own');
    for (const event of EVENTS) take(turn, event, new Set());
    expect(turn.steps.map(({ text }) => text)).toEqual(['Waits for both', 'switch: over']);
    expect(turn.shown.size).toBe(0);
    const folded = turn.delegations.map(({ agent, steps, parts, error, isOver, taskId: task }) => ({
      ...{ agent, said: steps.map(({ text }) => text), results: parts.length, error, isOver, task },
    }));
    expect(folded).toEqual([
      { agent: 'finder', said: ['Reads the archive', 'Reads more'], results: 1, error: '', isOver: true, task: 'far' },
      { agent: 'writer', said: ['Drafts'], results: 0, error: 'no paper', isOver: true, task: undefined },
    ]);
  });

  it('are parts of the delegation in the timeline', () => {
    const logged = (event: TaskEvent): AdminEvent => ({ event });
    const first: AdminEvent = {
      event: {
        task: {
          ...{ id: IDS.taskId, contextId: IDS.contextId, status: { state: 'TASK_STATE_WORKING', timestamp: new Date(1e12).toISOString() } },
          history: [{ messageId: messageId('u'), role: 'ROLE_USER', parts: [{ text: 'go' }] }],
        },
      },
    };
    const spans = spansOf([first, ...EVENTS.map(logged)], 0);
    const delegations = spans.filter(({ kind }) => kind === 'delegation');
    expect(delegations.map(({ label, isBad, isOpen }) => [label, isBad, isOpen])).toEqual([
      ['finder: look', false, false],
      ['writer: write', true, false],
    ]);
    const inside = (at: number) =>
      spans.filter(({ inside: of }) => of !== undefined && of === delegations[at]?.owns).map(({ label }) => label);
    expect([inside(0), inside(1)]).toEqual([['Reads the archive', 'Reads more'], ['Drafts']]);
    expect(delegations[0]?.taskId).toBe('far');
  });

  it('are together in the history of a task, where the first of them was', () => {
    const messages = EVENTS.flatMap((event) => event.statusUpdate?.status.message ?? []);
    const groups = grouped(messages, speakersIn(EVENTS.map((event) => ({ event }))));
    expect(groups.map(({ by, messages: inIt }) => [by, inIt.length])).toEqual([
      ['finder', 4],
      ['writer', 3],
      ['', 2],
    ]);
  });
});
