import { describe, expect, it } from 'vitest';
import type { AdminEvent, Json, Message, Metadata, TaskState } from '#protocol';
import { artifactId, contextId, LLM_NOTE, messageId, ORIGIN_NOTE, taskId } from '#protocol';
import type { Span } from '../../src/console/tasks/spans.ts';
import { spansOf } from '../../src/console/tasks/spans.ts';
import { scaleOf, sharesOf } from '../../src/console/tasks/time-scale.ts';

const START = Date.parse('2026-03-01T10:00:00Z');
const at = (ms: number): string => new Date(START + ms).toISOString();
const said = (text: string, data?: Json): Message => ({
  messageId: messageId('m'),
  role: 'ROLE_AGENT',
  parts: [{ text }, ...(data === undefined ? [] : [{ data }])],
});
const IDS = { taskId: taskId('t'), contextId: contextId('c') };

const created = (text: string): AdminEvent => ({
  event: {
    task: {
      id: IDS.taskId,
      contextId: IDS.contextId,
      status: { state: 'TASK_STATE_SUBMITTED', timestamp: at(0) },
      history: [{ messageId: messageId('u'), role: 'ROLE_USER', parts: [{ text }] }],
    },
  },
});
const status = (ms: number, state: TaskState, message?: Message, metadata?: Metadata): AdminEvent => ({
  event: {
    statusUpdate: {
      ...IDS,
      status: { state, timestamp: at(ms), ...(message === undefined ? {} : { message }) },
      ...(metadata === undefined ? {} : { metadata }),
    },
  },
});
const chunk = (text: string): AdminEvent => ({
  event: { artifactUpdate: { ...IDS, artifact: { artifactId: artifactId('response'), parts: [{ text }] }, append: true } },
});
const briefly = (spans: readonly Span[]): readonly unknown[] =>
  spans.map(({ kind, label, from, to }) => [kind, label, from - START, to - START]);

describe('the bars of a task', () => {
  it('ends every output with the next status, also of artifacts that are written in turns', () => {
    const other: AdminEvent = {
      event: { artifactUpdate: { ...IDS, artifact: { artifactId: artifactId('file'), parts: [{ text: 'x' }] } } },
    };
    const spans = spansOf([created('write'), chunk('a'), other, chunk('b'), status(300, 'TASK_STATE_COMPLETED')], 0);
    expect(briefly(spans).slice(1)).toEqual([
      ['output', 'response · 2 chunks', 0, 300],
      ['output', 'file', 0, 300],
    ]);
    expect(spans.some(({ isOpen }) => isOpen)).toBe(false);
  });

  it('tell tool calls, questions, answers and grouped chunks apart', () => {
    const answer: AdminEvent = { ...status(9000, 'TASK_STATE_WORKING'), input: { ...said('yes'), role: 'ROLE_USER' } };
    const spans = spansOf(
      [
        created('book a room'),
        status(10, 'TASK_STATE_WORKING'),
        status(100, 'TASK_STATE_WORKING', said('Using tool', { id: '1', tool: 'rooms' }), { event: 'tool_use' }),
        status(400, 'TASK_STATE_WORKING', said('Tool result', { id: '1', isError: true }), { event: 'tool_result' }),
        status(500, 'TASK_STATE_INPUT_REQUIRED', said('Take B2?')),
        answer,
        chunk('a'),
        chunk('b'),
        status(9200, 'TASK_STATE_COMPLETED'),
      ],
      0,
    );
    expect(briefly(spans)).toEqual([
      ['turn', 'book a room', 0, 500],
      ['tool', 'rooms', 100, 400],
      ['question', 'Take B2?', 500, 9000],
      ['turn', 'Answer: yes', 9000, 9200],
      ['output', 'response · 2 chunks', 9000, 9200],
    ]);
    expect(spans.map(({ isBad }) => isBad)).toEqual([false, true, false, false, false]);
    expect(spans.at(-1)).toMatchObject({ isRough: true, at: 7 });
    expect(sharesOf(spans)).toEqual({ workMs: 700, waitMs: 8500 });
  });

  it('name the option that an answer chose', () => {
    const options = [{ optionId: 'allow', name: 'Yes, make it', kind: 'allow_once' }];
    const answer: Message = { ...said('', { optionId: 'allow' }), role: 'ROLE_USER' };
    const spans = spansOf(
      [
        created('approve'),
        status(10, 'TASK_STATE_INPUT_REQUIRED', said('May I?', { options })),
        { ...status(20, 'TASK_STATE_WORKING'), input: { ...answer, parts: answer.parts.filter(({ data }) => data !== undefined) } },
      ],
      30,
    );
    expect(spans.map(({ label }) => label)).toEqual(['approve', 'May I?', 'Answer: Yes, make it']);
  });

  it('read the tool calls of a language model and the task of a remote agent from Parley’s notes', () => {
    const call = { id: 'c1', name: 'search', input: '{}', started: true };
    const note = (more: object): Metadata => ({ [`${LLM_NOTE}1`]: { of: 'u', calls: [{ ...call, ...more }] } });
    const spans = spansOf(
      [
        created('go'),
        status(50, 'TASK_STATE_WORKING', said('Calling search'), note({})),
        status(80, 'TASK_STATE_WORKING', undefined, note({ result: { text: 'x', isError: false } })),
        status(100, 'TASK_STATE_WORKING', undefined, { [ORIGIN_NOTE]: { taskId: 'far' } }),
      ],
      START + 300,
    );
    expect(briefly(spans)).toEqual([
      ['turn', 'go', 0, 300],
      ['tool', 'search', 50, 80],
      ['delegation', 'The remote agent works', 100, 300],
    ]);
    expect(spans[2]).toMatchObject({ isOpen: true, taskId: 'far' });
  });

  it('draw a long wait for a person shorter than the work', () => {
    const spans = spansOf(
      [
        created('go'),
        status(1000, 'TASK_STATE_INPUT_REQUIRED', said('Yes?')),
        { ...status(3_600_000, 'TASK_STATE_WORKING'), input: { ...said('yes'), role: 'ROLE_USER' } },
        status(3_601_000, 'TASK_STATE_COMPLETED'),
      ],
      0,
    );
    const scale = scaleOf(spans);
    expect(scale.isSqueezed).toBe(true);
    expect(scale.place(START + 1000)).toBeCloseTo(0.46, 5);
    expect(scale.place(START + 3_601_000)).toBeCloseTo(1, 5);
    expect(scale.timeAt(0.46)).toBeCloseTo(START + 1000, 0);
  });
});
