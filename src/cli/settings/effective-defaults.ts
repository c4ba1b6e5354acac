import { CliError } from '../command.ts';
import type { EffectiveDefaults } from '../flags/help.ts';
import { parse } from '../flags/parse.ts';
import type { CommandSpec } from '../flags/spec.ts';
import { passwordIn } from '../run-context.ts';
import { resolveSettings, sourceText } from './settings.ts';

/** What the environment and the files set, for the help: `json, by A2ACLI_OUTPUT`. Never a secret. */
export function effectiveDefaults(spec: CommandSpec): EffectiveDefaults {
  try {
    const settings = resolveSettings(parse(spec, []), { env: process.env, cwd: process.cwd(), onBad: () => undefined });
    return ({ name, secret }) => {
      const setting = settings.find(name);
      if (setting === undefined) return undefined;
      const text = setting.values.join(', ');
      const shown = secret === true || passwordIn(text) !== undefined ? '***' : text;
      return `${shown}, by ${sourceText(setting.source)}`;
    };
  } catch (thrown) {
    if (thrown instanceof CliError) return () => undefined; // the help is shown whatever the files say
    throw thrown;
  }
}
