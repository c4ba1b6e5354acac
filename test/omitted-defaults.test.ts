import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '#protocol';
import { artifactId, contextId, DIALECTS, seq, taskId } from '#protocol';

/** An agent may say what is so anyway. On the wire it is left out: ProtoJSON has no false, and the products' Go drops it. */
describe('a chunk that is neither appended nor the last says nothing of it', () => {
  const where = { taskId: taskId('t'), contextId: contextId('c') };
  const artifact = { artifactId: artifactId('0'), parts: [{ text: 'a' }] };
  const event: TaskEvent = { artifactUpdate: { ...where, artifact, append: false, lastChunk: false } };
  const one: TaskEvent = { artifactUpdate: { ...where, artifact, append: false, lastChunk: true } };

  for (const dialect of DIALECTS.filter(({ methods, rest }) => methods.stream !== undefined || rest !== undefined)) {
    it(dialect.id, () => {
      const [first, second] = dialect.openStream(1).frames([
        { seq: seq(1), event },
        { seq: seq(2), event: one },
      ]);
      expect(first?.data).not.toMatch(/append|last_?chunk/i);
      expect(second?.data).not.toMatch(/append/);
      expect(second?.data).toMatch(/"last_?chunk":true/i);
    });
  }
});
