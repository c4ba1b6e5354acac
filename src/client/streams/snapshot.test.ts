import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Part, Task } from '#protocol';
import { addedParts, artifactId, createAgentTextMessage, foldEvent, taskId } from '#protocol';
import { reconcile } from './snapshot.ts';

const BASE: Task = { id: taskId('t'), status: { state: 'TASK_STATE_WORKING' } };
const withTexts = (texts: readonly string[], more: Partial<Task> = {}): Task => ({
  ...BASE,
  artifacts: [{ artifactId: artifactId('a'), parts: texts.map((text) => ({ text })) }],
  ...more,
});
const textOf = (task: Task): string => (task.artifacts ?? []).flatMap(({ parts }) => parts.map(({ text }) => text)).join('');

describe('reconcile', () => {
  it('gives events that turn the first snapshot into the second, however texts were joined', () => {
    const texts = fc.array(fc.string({ maxLength: 5 }), { maxLength: 8 });
    fc.assert(
      fc.property(texts, fc.nat(), fc.boolean(), (all, seen, joined) => {
        const before = withTexts(all.slice(0, seen % (all.length + 1)));
        const now = withTexts(joined ? [all.join('')] : all, { status: { state: 'TASK_STATE_COMPLETED' } });
        const after = reconcile(before, now).reduce(foldEvent, before);
        expect(textOf(after)).toBe(textOf(now));
        expect(after.status.state).toBe('TASK_STATE_COMPLETED');
      }),
    );
  });

  it('reports the agent’s messages once, before the state', () => {
    const [said, last] = [createAgentTextMessage('thinking'), createAgentTextMessage('done')];
    const now: Task = { ...BASE, history: [said], status: { state: 'TASK_STATE_COMPLETED', message: last } };
    const events = reconcile(BASE, now);
    expect(events.map(({ statusUpdate }) => statusUpdate?.status.message?.parts[0]?.text)).toEqual(['thinking', 'done']);
    expect(reconcile(events.reduce(foldEvent, BASE), now)).toEqual([]);
  });

  it('reports nothing if only the timestamp has changed', () => {
    const task = withTexts(['a']);
    expect(reconcile(task, { ...task, status: { ...task.status, timestamp: '2026-01-01T00:00:00Z' } })).toEqual([]);
  });

  it('replaces an artifact that was rewritten', () => {
    const [event] = reconcile(withTexts(['old']), withTexts(['new']));
    expect(event?.artifactUpdate).toMatchObject({ artifact: { parts: [{ text: 'new' }] } });
    expect(event?.artifactUpdate?.append).toBeUndefined();
  });

  it('distinguishes data and files from text', () => {
    const [one, two]: readonly Part[] = [{ data: { x: 1 } }, { url: 'https://x/y' }];
    expect(addedParts([one as Part], [one as Part, two as Part])).toEqual([two]);
    expect(addedParts([one as Part], [two as Part])).toBeUndefined();
  });
});
