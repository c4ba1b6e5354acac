import { expect, it, vi } from 'vitest';
import type { EngineOptions } from '#engine';
import { DEFAULT_ENGINE_LIMITS } from '#engine';
import { resolveConfig, SETTINGS } from '#server';
import { handlerOf } from '../support/server.ts';

const seen = vi.hoisted(() => [] as EngineOptions[]);
vi.mock('#engine', async (original) => {
  const engine = await original<typeof import('#engine')>();
  return {
    ...engine,
    createEngine: (options: EngineOptions) => {
      seen.push(options);
      return engine.createEngine(options);
    },
  };
});

it('passes every configured limit to the engine', async () => {
  const names = Object.keys(DEFAULT_ENGINE_LIMITS);
  const env = Object.fromEntries(
    names.map((name, at) => [SETTINGS.find((key) => key.name === `limits.${name}`)?.env[0] ?? '', String(1_000_000 + at)]),
  );
  await handlerOf({ limits: resolveConfig({ env }).limits }).close();
  expect(seen.at(-1)?.limits).toMatchObject(Object.fromEntries(names.map((name, at) => [name, 1_000_000 + at])));
});

it('keeps finished tasks for an hour in the memory store, unless configured otherwise', async () => {
  await handlerOf().close();
  expect(seen.at(-1)?.limits?.finishedMsMax).toBe(3_600_000);
  await handlerOf({ limits: { finishedMsMax: 5 } }).close();
  expect(seen.at(-1)?.limits?.finishedMsMax).toBe(5);
});
