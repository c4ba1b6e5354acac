import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { task as anyTask } from '../../test/support/arbitraries.ts';
import type { TaskArtifactUpdate, TaskEvent } from './events.ts';
import { assembleArtifact, foldEvent, startFold } from './fold.ts';
import { artifactId, contextId, messageId, seq, taskId } from './ids.ts';
import type { Message } from './message.ts';
import type { Part } from './parts.ts';
import type { TaskState } from './states.ts';
import type { Artifact, Task } from './task.ts';

const ids = { taskId: taskId('t'), contextId: contextId('c') };
const task: Task = { id: ids.taskId, contextId: ids.contextId, status: { state: 'TASK_STATE_WORKING' } };
const said = (id: string): Message => ({ messageId: messageId(id), role: 'ROLE_AGENT', parts: [{ text: id }] });
const status = (state: TaskState, message?: Message, more: object = {}): TaskEvent => ({
  statusUpdate: { ...ids, status: message === undefined ? { state } : { state, message }, ...more },
});
const artifact = (id: string, parts: readonly Part[], more: object = {}): Artifact => ({ artifactId: artifactId(id), parts, ...more });
const chunk = (what: Artifact, more: object = {}): TaskArtifactUpdate => ({ ...ids, artifact: what, ...more });
const fold = (from: Task, ...events: TaskEvent[]): Task => events.reduce<Task>(foldEvent, from);

const defined = (value: object): object => Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));

describe('applying an event to a task', () => {
  it('starts with a task, and a later task event replaces it', () => {
    expect(foldEvent(undefined, { task })).toBe(task);
    const other: Task = { ...task, metadata: { a: 1 } };
    expect(foldEvent(task, { task: other })).toBe(other);
  });

  it('keeps every member of the task that it starts with', () => {
    fc.assert(
      fc.property(anyTask, (given) => {
        const folding = startFold();
        folding.add({ task: given });
        expect(folding.task()).toEqual(given);
      }),
    );
  });

  it('fails without a task to start with, and for a direct message', () => {
    expect(() => foldEvent(undefined, status('TASK_STATE_WORKING'))).toThrow('only if it starts with one');
    expect(() => foldEvent(undefined, { artifactUpdate: chunk(artifact('a', [])) })).toThrow('only if it starts with one');
    expect(() => foldEvent(task, { message: said('m') })).toThrow('only if it starts with one');
  });

  it('does not change the old task', () => {
    const before: Task = { ...task, artifacts: [artifact('a', [{ text: '1' }])], history: [said('m0')], metadata: { a: 1 } };
    const copy = structuredClone(before);
    fold(
      before,
      status('TASK_STATE_WORKING', said('m1'), { metadata: { b: 2 } }),
      { artifactUpdate: chunk(artifact('a', [{ text: '2' }]), { append: true }) },
      status('TASK_STATE_COMPLETED'),
    );
    expect(before).toEqual(copy);
  });

  it('moves the previous status message into the history, once', () => {
    const after = fold(
      task,
      status('TASK_STATE_WORKING', said('m1')),
      status('TASK_STATE_WORKING', said('m2')),
      status('TASK_STATE_COMPLETED', said('m3')),
    );
    expect(after.history?.map((message) => message.messageId)).toEqual(['m1', 'm2']);
    expect(after.status.message?.messageId).toBe('m3');
    const again = fold({ ...task, history: [said('m1')] }, status('TASK_STATE_WORKING', said('m1')), status('TASK_STATE_COMPLETED'));
    expect(again.history?.map((message) => message.messageId)).toEqual(['m1']);
  });

  it('adds no history without a status message', () => {
    expect(fold(task, status('TASK_STATE_WORKING'), status('TASK_STATE_COMPLETED'))).not.toHaveProperty('history');
  });

  it('merges metadata with the later value winning, and keeps it when an event has none', () => {
    const after = fold(
      { ...task, metadata: { a: 1, b: { c: 1 } } },
      status('TASK_STATE_WORKING', undefined, { metadata: { b: { d: 2 } } }),
      {
        artifactUpdate: chunk(artifact('x', []), { metadata: { e: 3 } }),
      },
    );
    expect(after.metadata).toEqual({ a: 1, b: { d: 2 }, e: 3 });
    expect(fold(after, status('TASK_STATE_WORKING')).metadata).toEqual(after.metadata);
  });

  it('takes over the generation of the event', () => {
    const counted = fold(task, status('TASK_STATE_WORKING', undefined, { generation: seq(4) }));
    expect(counted.generation).toBe(4);
    expect(fold(counted, status('TASK_STATE_WORKING')).generation).toBe(4);
    expect(fold(counted, { artifactUpdate: chunk(artifact('a', []), { generation: seq(5) }) }).generation).toBe(5);
  });

  it('replaces or extends an artifact by its id, at its position', () => {
    const before: Task = { ...task, artifacts: [artifact('a', [{ text: 'a1' }]), artifact('b', [{ text: 'b1' }])] };
    const replaced = fold(before, { artifactUpdate: chunk(artifact('a', [{ text: 'a2' }])) });
    expect(replaced.artifacts?.map((each) => each.parts)).toEqual([[{ text: 'a2' }], [{ text: 'b1' }]]);
    const longer = fold(before, { artifactUpdate: chunk(artifact('a', [{ text: 'a2' }]), { append: true }) });
    expect(longer.artifacts?.map((each) => each.parts)).toEqual([[{ text: 'a1a2' }], [{ text: 'b1' }]]);
  });

  it('creates the artifact when a chunk appends to an unknown one', () => {
    const after = fold(task, { artifactUpdate: chunk(artifact('new', [{ text: '1' }]), { append: true }) });
    expect(after.artifacts).toEqual([artifact('new', [{ text: '1' }])]);
  });
});

describe('folding many events', () => {
  const id = fc.constantFrom('', 'm1', 'm2', 'm3');
  const meta = fc.option(fc.dictionary(fc.constantFrom('a', 'b'), fc.integer()), { nil: undefined });
  const more = fc.record({ metadata: meta, generation: fc.option(fc.nat().map(seq), { nil: undefined }) }, { requiredKeys: [] });
  const event = fc.oneof(
    fc
      .tuple(fc.option(id, { nil: undefined }), more)
      .map(([of, rest]) => status('TASK_STATE_WORKING', of === undefined ? undefined : said(of), defined(rest))),
    fc.tuple(fc.constantFrom('a', 'b'), fc.boolean(), meta, more).map(([of, append, metadata, rest]): TaskEvent => {
      const parts = [{ text: of }];
      return {
        artifactUpdate: chunk(artifact(of, parts, metadata === undefined ? {} : { metadata }), {
          ...defined(rest),
          ...(append ? { append } : {}),
        }),
      };
    }),
    {
      arbitrary: fc.constant<TaskEvent>({ task: { ...task, history: [said('m1')], artifacts: [artifact('a', [{ text: '0' }])] } }),
      weight: 1,
    },
  );

  it('gives the same task as applying them one by one', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const all = startFold();
        all.add({ task });
        for (const each of events) all.add(each);
        const expected = fold(task, ...events);
        expect(all.task()).toEqual(expected);
        expect(all.said).toBe(expected.history?.length ?? 0);
      }),
    );
  });

  it('adds the caller’s messages in order, even with a repeated id', () => {
    const all = startFold();
    all.add({ task: { ...task, history: [said('m1')] } });
    all.add(status('TASK_STATE_INPUT_REQUIRED', said('q')));
    all.add(status('TASK_STATE_WORKING'), said('m1'));
    all.add(status('TASK_STATE_COMPLETED'));
    expect(all.task(seq(4))).toMatchObject({ generation: 4, history: [{ messageId: 'm1' }, { messageId: 'q' }, { messageId: 'm1' }] });
  });

  it('returns tasks that later events do not change', () => {
    const all = startFold();
    all.add({ task });
    all.add({ artifactUpdate: chunk(artifact('a', [{ text: '1' }])) });
    const early = all.task();
    all.add({ artifactUpdate: chunk(artifact('a', [{ text: '2' }]), { append: true }) });
    expect(early.artifacts?.[0]?.parts).toEqual([{ text: '1' }]);
    expect(all.task().artifacts?.[0]?.parts).toEqual([{ text: '12' }]);
  });

  it('fails without a task to start with, and for a direct message', () => {
    expect(() => startFold().add(status('TASK_STATE_WORKING'))).toThrow('only if it starts with one');
    expect(() => startFold().add({ message: said('m') })).toThrow('a direct message');
    expect(() => startFold().task()).toThrow('nothing has been folded');
  });
});

describe('assembling an artifact', () => {
  const first = artifact('a', [{ text: '1' }], { name: 'n', description: 'd', metadata: { a: 1, b: 1 } });

  it('appends parts, takes over new members of the chunk, and keeps the others', () => {
    const next = assembleArtifact(first, chunk(artifact('a', [{ text: '2' }], { name: 'm', metadata: { b: 2 } }), { append: true }));
    expect(next).toEqual(artifact('a', [{ text: '12' }], { name: 'm', description: 'd', metadata: { a: 1, b: 2 } }));
  });

  it('joins only adjacent plain texts', () => {
    const parts = (before: readonly Part[], added: readonly Part[]): readonly Part[] =>
      assembleArtifact(artifact('a', before), chunk(artifact('a', added), { append: true })).parts;
    expect(parts([{ text: 'a' }, { text: 'b' }], [{ text: 'c' }, { text: 'd' }])).toEqual([{ text: 'a' }, { text: 'bc' }, { text: 'd' }]);
    expect(parts([{ data: 1 }], [{ text: 'c' }])).toEqual([{ data: 1 }, { text: 'c' }]);
    for (const own of [{ metadata: { a: 1 } }, { filename: 'f' }, { mediaType: 'text/html' }]) {
      expect(parts([{ text: 'a', ...own }], [{ text: 'b' }])).toEqual([{ text: 'a', ...own }, { text: 'b' }]);
      expect(parts([{ text: 'a' }], [{ text: 'b', ...own }])).toEqual([{ text: 'a' }, { text: 'b', ...own }]);
    }
  });

  it('has no metadata if neither the artifact nor the chunk has any', () => {
    const plain = artifact('a', [{ text: '1' }]);
    expect(Object.keys(assembleArtifact(plain, chunk(plain, { append: true })))).not.toContain('metadata');
  });

  it('is the chunk itself if there was no artifact, or if the chunk does not append', () => {
    const only = artifact('a', [{ text: '2' }]);
    expect(assembleArtifact(undefined, chunk(only, { append: true }))).toBe(only);
    expect(assembleArtifact(first, chunk(only))).toBe(only);
    expect(assembleArtifact(first, chunk(only, { append: false }))).toBe(only);
  });
});
