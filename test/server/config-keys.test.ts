import { describe, expect, it } from 'vitest';
import { KEYS } from '#server';
import { isFull } from '../faults/size.ts';
import { A2A_BLOCK_CHECKS } from './keys/a2a-block.ts';
import { AUTH_CHECKS } from './keys/auth.ts';
import { HTTP_LIMIT_CHECKS } from './keys/http-limits.ts';
import { MESH_CHECKS } from './keys/mesh.ts';
import { NODE_CHECKS } from './keys/node.ts';
import { RUN_CHECKS, RUN_NEEDS } from './keys/run.ts';
import { RUN_LIMIT_CHECKS } from './keys/run-limits.ts';
import type { Checks } from './keys/serving.ts';
import { ignoring } from './keys/serving.ts';
import { TASK_LIMIT_CHECKS } from './keys/task-limits.ts';
import { WEBHOOK_CHECKS } from './keys/webhooks.ts';

/**
 * Every key does something: each check serves with the key set, by way of a configuration file, and fails if it is ignored. What the
 * engine does with a limit that shows only after a crash or in memory is its own tests' business; that it arrives there is seen in
 * engine-limits.test.ts. In the full size each check is run once more with its key ignored, and has to fail.
 */
const CHECKS: Checks = {
  ...NODE_CHECKS,
  ...MESH_CHECKS,
  ...HTTP_LIMIT_CHECKS,
  ...TASK_LIMIT_CHECKS,
  ...RUN_LIMIT_CHECKS,
  ...WEBHOOK_CHECKS,
  ...RUN_CHECKS,
  ...A2A_BLOCK_CHECKS,
};

/** Who may come in: auth-keys.test.ts looks at each. */
const AUTH_KEYS = Object.keys(AUTH_CHECKS);

/** What shows only after a crash, or in memory and speed: engine-limits.test.ts sees that they arrive. */
const INSIDE = ['attemptsMax', 'retryMs', 'windowEvents', 'windowBytes', 'tailEvents', 'tailBytes'].map((name) => `limits.${name}`);

describe('a key that is ignored is noticed', () => {
  it('for every key there is', () => {
    expect([...Object.keys(CHECKS), ...AUTH_KEYS, ...INSIDE].sort()).toEqual(KEYS.map(({ name }) => name).sort());
  });
  for (const [name, check] of Object.entries(CHECKS)) itWhereItCan(name, check);
});

/** Most of these wait in vain for something, which takes minutes: so they are part of the full size. */
if (isFull) {
  describe('a check that would not notice is noticed', () => {
    for (const [name, check] of Object.entries(CHECKS)) {
      itWhereItCan(name, () => expect(ignoring(name, check)).rejects.toThrow());
    }
  });
}

function itWhereItCan(name: string, check: () => Promise<void>): void {
  const { what, isThere } = RUN_NEEDS[name] ?? { what: '', isThere: true };
  it.skipIf(!isThere)(isThere ? name : `${name} [needs ${what}]`, check);
}
