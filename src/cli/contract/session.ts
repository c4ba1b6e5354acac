import type { Command } from '../command.ts';
import { helpFor } from '../flags/help.ts';
import type { Parsed } from '../flags/parse.ts';
import { argumentsOf, parse, switchOf } from '../flags/parse.ts';
import type { CommandSpec } from '../flags/spec.ts';
import { printError, wantsJson } from '../output/errors.ts';
import type { Secrets } from '../output/secrets.ts';
import { createSecrets } from '../output/secrets.ts';
import type { Settings } from '../settings/settings.ts';
import { resolveSettings } from '../settings/settings.ts';

/** One run of a command of the contract. */
export interface Session {
  readonly parsed: Parsed;
  /** The words that belong to no flag. */
  readonly words: readonly string[];
  readonly settings: Settings;
  readonly secrets: Secrets;
  /** Fires when `--timeout` has run out. */
  readonly signal: AbortSignal;
  readonly json: boolean;
  readonly stream: boolean;
  readonly verbose: boolean;
  /** Payload. */
  out(text: string): void;
  /** Progress, warnings, logs. */
  note(text: string): void;
}

/** A command of the contract: its flags resolved, its errors in the contract's form. */
export function contractCommand(spec: CommandSpec, body: (session: Session) => Promise<number>): Command {
  return {
    name: spec.name.split(' ').at(-1) ?? spec.name,
    help: helpFor(spec),
    spec,
    contract: true,
    run: async (args) => {
      const secrets = createSecrets();
      let json = wantsJson(args, process.env);
      try {
        const parsed = parse(spec, withJson(args));
        const settings = resolveSettings(parsed);
        json = settings.text('output') === 'json';
        return await body(sessionOf(parsed, settings, secrets));
      } catch (thrown) {
        return await printError(thrown, { json, contract: true, secrets });
      }
    },
  };
}

/** `--json` is how all other commands spell `-o json`; here it works too. */
function withJson(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return args.map((word, at) => (word === '--json' && (end === -1 || at < end) ? '--output=json' : word));
}

function sessionOf(parsed: Parsed, settings: Settings, secrets: Secrets): Session {
  for (const name of ['bearer', 'api-key', 'basic']) secrets.add(settings.text(name));
  const timeoutMs = settings.durationMs('timeout');
  return {
    parsed,
    words: argumentsOf(parsed),
    settings,
    secrets,
    signal: timeoutMs === undefined ? new AbortController().signal : AbortSignal.timeout(timeoutMs),
    json: settings.text('output') === 'json',
    stream: switchOf(parsed, 'stream'),
    verbose: settings.isOn('verbose'),
    out: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(secrets.mask(text)),
  };
}
