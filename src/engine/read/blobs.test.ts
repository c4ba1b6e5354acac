import { describe, expect, it } from 'vitest';
import type { Blobs, TaskKey } from '#engine';
import type { AgentOutput, Part } from '#protocol';
import { seq } from '#protocol';
import { agent, ask, collect, ctx, fold, request, taskOf, toTask, world } from '../../../test/support/engine.ts';
import { memoryBlobs } from '../adapters/memory.ts';

const large = (text: string): string => text.repeat(200);
const limits = { spillBytes: 100 };
const made = (parts: readonly Part[]): AgentOutput => ({ kind: 'artifact', id: 'a', parts });

/** Names the content by its parts. */
function watched(): { readonly blobs: Blobs; readonly puts: string[]; readonly forgotten: TaskKey[] } {
  const kept = memoryBlobs();
  const puts: string[] = [];
  const forgotten: TaskKey[] = [];
  const blobs: Blobs = {
    ...kept,
    put: (task, name, content) => {
      puts.push(name);
      return kept.put(task, name, content);
    },
    forget: (task) => {
      forgotten.push(task);
      return kept.forget(task);
    },
  };
  return { blobs, puts, forgotten };
}

describe('large content', () => {
  const parts: readonly Part[] = [
    { text: 'small' },
    { text: large('\ufeffhé 😀'), mediaType: 'text/markdown' },
    { raw: large('AAEC'), filename: 'f.bin' },
    { data: { deep: [large('x'), { n: 1.5 }] }, metadata: { m: 1 } },
    { url: `https://e.org/${large('y')}` },
    { text: `${large('z')}\ud83d` },
    { text: 'blob:0000' },
  ];

  it('is stored outside the log, and every reader gets it back unchanged', async () => {
    const { blobs, puts } = watched();
    const { service, store, crash } = await world(
      agent(async function* () {
        yield made(parts);
      }),
      { blobs, limits },
    );
    const task = taskOf(await service.send(request('go'), ctx()));
    expect(task.artifacts?.[0]?.parts).toEqual(parts);
    expect(puts).toHaveLength(3);
    const key = (await store.task('any', task.id))?.key;
    if (key === undefined) throw new Error('no task');
    const [, entry] = await store.entries(key, { after: seq(0), limit: 9 });
    expect(entry?.spilled).toEqual([1, 2, 3]);
    expect(JSON.stringify(entry).length).toBeLessThan(JSON.stringify(parts).length);
    expect(entry?.event.artifactUpdate?.artifact.parts[1]).toEqual({ text: `blob:${puts[0]}`, mediaType: 'text/markdown' });
    const { service: later } = await crash();
    expect((await later.get({ id: task.id }, ctx())).artifacts?.[0]?.parts).toEqual(parts);
    expect((await later.list({ includeArtifacts: true }, ctx())).tasks[0]?.artifacts?.[0]?.parts).toEqual(parts);
    const events = await collect(later.subscribe({ id: task.id, after: seq(1) }, ctx()));
    expect(fold(events).artifacts?.[0]?.parts).toEqual(parts);
  });

  it('is visible to the agent in its next turn and counts against the limits', async () => {
    const seen: unknown[] = [];
    const run = agent(async function* ({ task, history }) {
      seen.push(task.artifacts?.[0]?.parts);
      if (history.length === 0) {
        yield made([{ text: large('x') }]);
        yield ask('more?');
      } else for (;;) yield { kind: 'artifact', id: 'a', append: true, parts: [{ text: large('x') }] };
    });
    const { service } = await world(run, { limits: { ...limits, artifactBytesMax: 500 } });
    const task = taskOf(await service.send(request('go'), ctx()));
    const after = taskOf(await service.send(toTask(task, 'more'), ctx()));
    expect(seen[1]).toEqual([{ text: large('x') }]);
    expect([after.status.state, after.artifacts?.[0]?.parts]).toEqual(['TASK_STATE_FAILED', [{ text: large('x') + large('x') }]]);
    const { service: small } = await world(run, { limits: { ...limits, taskBytesMax: 1000 } });
    const other = taskOf(await small.send(request('go'), ctx()));
    const [text = ''] = taskOf(await small.send(toTask(other, 'more'), ctx())).artifacts?.[0]?.parts.map((part) => part.text) ?? [];
    expect(text.length).toBeLessThan(5 * large('x').length);
  });

  it('that is missing or damaged is an error', async () => {
    const kept = memoryBlobs();
    let content: Uint8Array | undefined;
    const blobs: Blobs = { ...kept, get: async () => content };
    const { service } = await world(
      agent(async function* () {
        yield made([{ text: large('x') }]);
      }),
      { blobs, limits },
    );
    await expect(service.send(request('go'), ctx())).rejects.toMatchObject({ kind: 'INTERNAL_ERROR', message: 'Internal error' });
    content = new TextEncoder().encode(large('y'));
    const [task] = (await service.list({}, ctx())).tasks;
    if (task === undefined) throw new Error('no task');
    await expect(service.get({ id: task.id }, ctx())).rejects.toMatchObject({ kind: 'INTERNAL_ERROR' });
    content = new TextEncoder().encode(large('x'));
    expect((await service.get({ id: task.id }, ctx())).artifacts).toHaveLength(1);
  });

  it('fails the run if it can’t be stored', async () => {
    const blobs: Blobs = { ...memoryBlobs(), put: () => Promise.reject(new Error('ENOSPC')) };
    const { service } = await world(
      agent(async function* () {
        yield made([{ text: large('x') }]);
      }),
      { blobs, limits },
    );
    expect(taskOf(await service.send(request('go'), ctx())).status.state).toBe('TASK_STATE_FAILED');
  });

  it('is deleted with its task', async () => {
    const { blobs, forgotten } = watched();
    const { service, engine } = await world(
      agent(async function* () {
        yield made([{ text: large('x') }]);
      }),
      { blobs, limits },
    );
    const { id } = taskOf(await service.send(request('go'), ctx()));
    await engine.admin.delete(id);
    expect(forgotten).toHaveLength(1);
    expect(await blobs.get(forgotten[0] as TaskKey, 'x')).toBeUndefined();
  });

  it('stays in the log without a blob store', async () => {
    const { service } = await world(
      agent(async function* () {
        yield made(parts);
      }),
      { blobs: undefined as never, limits },
    );
    expect(taskOf(await service.send(request('go'), ctx())).artifacts?.[0]?.parts).toEqual(parts);
  });
});
