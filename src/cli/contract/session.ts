import { withLeadingAgent } from '../agent/leading-agent.ts';
import type { Command } from '../command.ts';
import { helpFor } from '../flags/help.ts';
import { argumentsOf, parse, switchOf } from '../flags/parse.ts';
import type { CommandSpec } from '../flags/spec.ts';
import { printError, wantsJson } from '../output/errors.ts';
import { createSecrets } from '../output/secrets.ts';
import type { RunContext } from '../run-context.ts';
import { createRunContext } from '../run-context.ts';
import { effectiveDefaults } from '../settings/effective-defaults.ts';
import type { SettingsEnvironment } from '../settings/settings.ts';

/** One run of a command of the A2A CLI specification. */
export interface ContractSession extends RunContext {
  /** The arguments that belong to no flag. */
  readonly words: readonly string[];
  readonly json: boolean;
  readonly stream: boolean;
  readonly verbose: boolean;
  /** Writes the payload to standard output. */
  out(text: string): void;
  /** Writes progress, warnings and logs to standard error, without secrets. */
  note(text: string): void;
}

/** A command of the A2A CLI specification: its settings resolved, its errors in the specification's form. */
export function contractCommand(
  spec: CommandSpec,
  body: (session: ContractSession) => Promise<number>,
  { onBad }: Pick<SettingsEnvironment, 'onBad'> = {},
): Command {
  return {
    name: spec.name.split(' ').at(-1) ?? spec.name,
    get help() {
      return helpFor(spec, effectiveDefaults(spec));
    },
    spec,
    run: async (args) => {
      const secrets = createSecrets();
      let json = wantsJson(args, process.env);
      try {
        const run = createRunContext(withLeadingAgent(parse(spec, withJson(args))), secrets, onBad);
        json = run.settings.text('output') === 'json';
        return await body(sessionOf(run));
      } catch (thrown) {
        return await printError(thrown, { json, secrets });
      }
    },
  };
}

/** Accepts `--json`, which all other commands have, for `-o json`. */
function withJson(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return args.map((word, at) => (word === '--json' && (end === -1 || at < end) ? '--output=json' : word));
}

/** Adds the options that every command of the A2A CLI specification has. */
function sessionOf(run: RunContext): ContractSession {
  const { parsed, settings, secrets } = run;
  return {
    ...run,
    words: argumentsOf(parsed),
    json: settings.text('output') === 'json',
    stream: switchOf(parsed, 'stream'),
    verbose: settings.isOn('verbose'),
    out: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(secrets.mask(text)),
  };
}
