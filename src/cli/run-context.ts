import type { ParsedFlags } from './flags/parse.ts';
import type { Secrets } from './output/secrets.ts';
import { createSecrets } from './output/secrets.ts';
import type { CliSettings } from './settings/settings.ts';
import { resolveSettings } from './settings/settings.ts';

/** What every command that calls an agent works with. */
export interface RunContext {
  readonly parsed: ParsedFlags;
  readonly settings: CliSettings;
  /** Values that no output may show. */
  readonly secrets: Secrets;
  /** Aborts when `--timeout` has passed. */
  readonly signal: AbortSignal;
}

/** Resolves the settings, masks the credentials in all output, and starts the timer of `--timeout`. */
export function createRunContext(parsed: ParsedFlags, secrets: Secrets = createSecrets()): RunContext {
  const settings = resolveSettings(parsed);
  for (const name of ['bearer', 'api-key', 'basic']) secrets.add(settings.text(name));
  const timeoutMs = settings.durationMs('timeout');
  return { parsed, settings, secrets, signal: timeoutMs === undefined ? new AbortController().signal : AbortSignal.timeout(timeoutMs) };
}
