import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '#protocol';
import { artifactId, contextId, DIALECTS, seq, taskId } from '#protocol';

/**
 * An agent may set members to their defaults. On the wire they are left out: ProtoJSON omits false, and so do the products' Go encoders.
 */
describe('append and lastChunk are left out when false', () => {
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
