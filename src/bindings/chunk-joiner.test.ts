import { describe, expect, it } from 'vitest';
import type { Logged, TaskEvent } from '#protocol';
import { artifactId, contextId, taskId } from '#protocol';
import { ChunkJoiner } from './chunk-joiner.ts';

const where = { taskId: taskId('t'), contextId: contextId('c') };
const chunk = (id: string, text: string, more: { readonly append?: true; readonly name?: string } = { append: true }): Logged => {
  const { append, name } = more;
  const artifact = { artifactId: artifactId(id), parts: [{ text }], ...(name === undefined ? {} : { name }) };
  return { event: { artifactUpdate: { ...where, artifact, ...(append === undefined ? {} : { append }) } } };
};
const idsOf = (batches: readonly (readonly Logged[])[]): unknown[] => {
  const joiner = new ChunkJoiner();
  return batches.flatMap((batch) => joiner.join(batch)).map(({ event }) => event.artifactUpdate?.artifact.artifactId);
};

describe('chunks that each have an artifact id of their own', () => {
  it('are one artifact, over several batches', () => {
    expect(idsOf([[chunk('a-1', 'one ')], [chunk('a-2', 'two '), chunk('a-3', 'three')]])).toEqual(['a-1', 'a-1', 'a-1']);
  });

  it('are joined by name', () => {
    const named = (id: string, name: string): Logged => chunk(id, id, { append: true, name });
    expect(idsOf([[named('x1', 'answer'), named('y1', 'log'), named('x2', 'answer'), named('y2', 'log')]])).toEqual([
      'x1',
      'y1',
      'x1',
      'y1',
    ]);
  });

  it('are not joined to an artifact that has several chunks of its own', () => {
    expect(idsOf([[chunk('a', '1'), chunk('a', '2'), chunk('b', '1'), chunk('b', '2')]])).toEqual(['a', 'a', 'b', 'b']);
  });

  it('are left alone where the artifact has begun', () => {
    const task = {
      task: { id: taskId('t'), status: { state: 'TASK_STATE_WORKING' }, artifacts: [{ artifactId: artifactId('s'), parts: [] }] },
    };
    const batch = [{ event: task as TaskEvent }, chunk('s', '1'), chunk('n', '1', {}), chunk('n', '2'), chunk('s', '2')];
    expect(new ChunkJoiner().join(batch)).toBe(batch);
  });
});
