import { describe, expect, it } from 'vitest';
import { SETTINGS } from '#server';
import { isFull } from '../faults/size.ts';
import { A2A_BLOCK_CHECKS } from './keys/a2a-block.ts';
import { AUTH_CHECKS } from './keys/auth.ts';
import { BACKUP_CHECKS } from './keys/backups.ts';
import { HTTP_LIMIT_CHECKS } from './keys/http-limits.ts';
import { LLM_CHECKS } from './keys/llm.ts';
import { MESH_CHECKS } from './keys/mesh.ts';
import { NODE_CHECKS } from './keys/node.ts';
import { POSTGRES_CHECKS, POSTGRES_NEEDS } from './keys/postgres.ts';
import { RUN_CHECKS, RUN_NEEDS } from './keys/run.ts';
import { RUN_LIMIT_CHECKS } from './keys/run-limits.ts';
import type { Checks } from './keys/serving.ts';
import { ignoring } from './keys/serving.ts';
import { TASK_LIMIT_CHECKS } from './keys/task-limits.ts';
import { WEBHOOK_CHECKS } from './keys/webhooks.ts';

/**
 * Every setting has an effect: each check starts a node with the setting in a configuration file, and fails if the node ignores it.
 * Limits whose effect shows only after a crash or in memory are tested with the engine; engine-limits.test.ts tests that they reach it.
 * In the full size each check also runs with its setting ignored, and must fail.
 */
const CHECKS: Checks = {
  ...NODE_CHECKS,
  ...LLM_CHECKS,
  ...MESH_CHECKS,
  ...HTTP_LIMIT_CHECKS,
  ...TASK_LIMIT_CHECKS,
  ...RUN_LIMIT_CHECKS,
  ...WEBHOOK_CHECKS,
  ...RUN_CHECKS,
  ...A2A_BLOCK_CHECKS,
  ...POSTGRES_CHECKS,
  ...BACKUP_CHECKS,
};

/** Authentication: auth-keys.test.ts tests each of these settings. */
const AUTH_KEYS = Object.keys(AUTH_CHECKS);

/** Effects that show only after a crash, or in memory and speed: engine-limits.test.ts tests that the engine gets them. */
const INSIDE = ['attemptsMax', 'retryMs', 'windowEvents', 'windowBytes', 'tailEvents', 'tailBytes'].map((name) => `limits.${name}`);

/** What the command itself does: test/cli/reload.test.ts and test/faults/postgres-workers.test.ts test it. */
const BY_COMMAND = ['lameDuckMs', 'workers'];

describe('a node that ignores a setting fails its test', () => {
  it('for every setting of the table', () => {
    const checked = new Set([...Object.keys(CHECKS), ...AUTH_KEYS, ...INSIDE, ...BY_COMMAND]);
    const declared = SETTINGS.map(({ name }) => name);
    const unchecked = declared.filter((name) => !checked.has(name));
    expect(unchecked, 'settings without a check: add one for each to a file in test/server/keys/').toEqual([]);
    const unknown = [...checked].filter((name) => !declared.includes(name));
    expect(unknown, 'checks of settings that are not in the table: delete them').toEqual([]);
  });
  for (const [name, check] of Object.entries(CHECKS)) itWhereItCan(name, check);
});

/** Most of these wait for a timeout, which takes minutes, so they run in the full size only. */
if (isFull) {
  describe('a check fails when its setting is ignored', () => {
    for (const [name, check] of Object.entries(CHECKS)) {
      itWhereItCan(name, () => expect(ignoring(name, check)).rejects.toThrow());
    }
  });
}

function itWhereItCan(name: string, check: () => Promise<void>): void {
  const { what, isThere } = { ...RUN_NEEDS, ...POSTGRES_NEEDS }[name] ?? { what: '', isThere: true };
  it.skipIf(!isThere)(isThere ? name : `${name} [needs ${what}]`, check);
}
