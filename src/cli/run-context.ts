import { usage } from './command.ts';
import type { ParsedFlags } from './flags/parse.ts';
import { allFlags } from './flags/spec.ts';
import type { Secrets } from './output/secrets.ts';
import { createSecrets } from './output/secrets.ts';
import { TIMER_MS_MAX } from './settings/duration.ts';
import type { CliSettings, SettingsEnvironment } from './settings/settings.ts';
import { nameIn, resolveSettings } from './settings/settings.ts';

/** What every command that calls an agent works with. */
export interface RunContext {
  readonly parsed: ParsedFlags;
  readonly settings: CliSettings;
  /** Values that no output may show. */
  readonly secrets: Secrets;
  /** Aborts when `--timeout` has passed. */
  readonly signal: AbortSignal;
  /** The origins that the client certificate is shown to. */
  readonly certificateOrigins: Set<string>;
}

/** Resolves and checks the settings, masks the credentials in all output, and starts the timer of `--timeout`. */
export function createRunContext(
  parsed: ParsedFlags,
  secrets: Secrets = createSecrets(),
  onBad?: SettingsEnvironment['onBad'],
): RunContext {
  const settings = resolveSettings(parsed, { env: process.env, cwd: process.cwd(), ...(onBad === undefined ? {} : { onBad }) });
  for (const flag of allFlags(parsed.spec)) if (flag.secret === true) secrets.add(settings.text(flag.name));
  secrets.add(settings.text('basic')?.replace(/^[^:]*:/, ''));
  for (const name of ['agent-card', 'endpoint']) secrets.add(passwordIn(settings.text(name)));
  for (const text of parsed.positionals) secrets.add(passwordIn(text));
  if (onBad === undefined) checkValues(parsed, settings);
  const timeoutMs = onBad === undefined ? settings.durationMs('timeout') : undefined;
  return {
    parsed,
    settings,
    secrets,
    signal: timeoutMs === undefined ? new AbortController().signal : AbortSignal.timeout(timeoutMs),
    certificateOrigins: new Set(),
  };
}

/** The password of `http://user:password@host`. */
export function passwordIn(address: string | undefined): string | undefined {
  return /^(?:https?:\/\/)?[^/@\s:]*:([^/@\s]+)@/i.exec(address ?? '')?.[1];
}

function checkValues(parsed: ParsedFlags, settings: CliSettings): void {
  for (const { flag, value } of parsed.given) {
    if (flag?.kind === 'text' && value.trim() === '')
      throw usage(`--${flag.name} is empty`, `usage: --${flag.name} ${flag.value ?? 'VALUE'}`);
  }
  for (const flag of allFlags(parsed.spec)) {
    const value = settings.text(flag.name);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a header can't hold them
    if (flag.secret === true && value !== undefined && /[\u0000-\u001f\u007f]|[^\u0000-\u00ff]/.test(value))
      throw usage(
        `--${flag.name} has a line break or another character that a request can't carry`,
        'check how it was copied or read from its file',
      );
  }
  for (const name of ['timeout', 'poll-interval']) checkDuration(settings, name);
}

/** Also if no call would use it: a mistake must not depend on how fast an agent answers. */
export function checkDuration(settings: CliSettings, name: string): void {
  const [setting, ms] = [settings.find(name), settings.durationMs(name)];
  if (setting === undefined || ms === undefined) return;
  if (ms === 0)
    throw usage(
      `${nameIn(setting)} can't be 0`,
      name === 'timeout' ? 'leave it out to wait without a limit' : 'example: --poll-interval 500ms',
    );
  if (ms > TIMER_MS_MAX) throw usage(`${nameIn(setting)} is longer than 24 days`, `example: --${name} 24h`);
}
