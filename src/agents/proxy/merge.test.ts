import { describe, expect, it } from 'vitest';
import type { Artifact, Part, Task } from '#protocol';
import { artifactId, contextId, createAgentTextMessage, createTaskStatus, messageId, taskId } from '#protocol';
import { restOf, startMerge } from './merge.ts';

const texts = (...all: string[]): Part[] => all.map((text) => ({ text }));
const artifact = (parts: readonly Part[]): Artifact => ({ artifactId: artifactId('a'), parts });
const task = (more: Partial<Task> = {}): Task => ({
  id: taskId('t'),
  contextId: contextId('c'),
  status: createTaskStatus('TASK_STATE_WORKING'),
  ...more,
});

describe('the new parts of an artifact', () => {
  it.each([
    ['all of it, if we have none', undefined, texts('a'), { parts: texts('a'), append: undefined }],
    ['nothing, if it is the same', texts('a', 'b'), texts('a', 'b'), undefined],
    ['its further parts', texts('a'), texts('a', 'b', 'c'), { parts: texts('b', 'c'), append: true }],
    ['the rest of a text that was joined', texts('a', 'b'), texts('abc'), { parts: texts('c'), append: true }],
    ['nothing of a text that was joined and is the same', texts('a', 'b'), texts('ab'), undefined],
    ['all of it, if it is another', texts('x'), texts('a', 'b'), { parts: texts('a', 'b'), append: undefined }],
    ['all of it, if there is less', texts('a', 'b'), texts('a'), { parts: texts('a'), append: undefined }],
    ['all of it, if a file differs', [{ raw: 'AA==' }], [{ raw: 'AQ==' }], { parts: [{ raw: 'AQ==' }], append: undefined }],
  ] as const)('%s', (_, known, now, rest) => {
    const found = restOf(artifact(now), known);
    expect(found === undefined ? undefined : { parts: found.artifact.parts, append: found.append }).toEqual(rest);
  });
});

describe('merging', () => {
  const note = createAgentTextMessage('halfway', { messageId: messageId('n1') });

  it('reports missed messages once', () => {
    const merge = startMerge(task());
    const snapshot = { task: task({ history: [note] }) };
    expect(merge.outputs(snapshot)).toHaveLength(1);
    expect(merge.outputs(snapshot)).toEqual([]);
    expect(startMerge(task({ history: [note] })).outputs(snapshot)).toEqual([]);
  });

  it('reports a final state with its message even if both are known', () => {
    const status = createTaskStatus('TASK_STATE_COMPLETED', note);
    const [output, ...more] = startMerge(task({ history: [note] })).outputs({ task: task({ status }) });
    expect(more).toEqual([]);
    expect(output).toMatchObject({ kind: 'event', event: { statusUpdate: { status: { state: 'TASK_STATE_COMPLETED', message: note } } } });
  });

  it('reports a queued task as working', () => {
    const status = createTaskStatus('TASK_STATE_SUBMITTED', note);
    expect(startMerge(task()).outputs({ task: task({ status }) })).toMatchObject([
      { event: { statusUpdate: { status: { state: 'TASK_STATE_WORKING' } } } },
    ]);
  });
});
