/** One flag, declared once: parsing, help, completion, the environment and `config show` are derived from this. */
export interface Flag {
  /** The canonical long spelling, without dashes. */
  readonly name: string;
  readonly short?: string;
  readonly aliases?: readonly string[];
  /** `switch` takes no value, `text` one, `list` one each time it is given. */
  readonly kind: 'text' | 'switch' | 'list';
  /** What stands for the value in the help, as `DIR` in `--data DIR`. */
  readonly value?: string;
  readonly oneOf?: readonly string[];
  /** The title of its block in the help. Default: `Options`. */
  readonly group?: string;
  readonly doc: string;
  /** `A2ACLI_NAME` and the configuration files set it too. */
  readonly env?: true;
  readonly secret?: true;
  /** Shown in the help and by `config show`. */
  readonly default?: string;
}

/** A word of the command line that belongs to no flag. */
export interface Argument {
  readonly name: string;
  readonly optional?: true;
  /** Takes all remaining words. */
  readonly many?: true;
}

/** A command's arguments, flags and help text. */
export interface CommandSpec {
  /** As typed after `parley`: `task get`. */
  readonly name: string;
  readonly summary: string;
  readonly args: readonly Argument[];
  /** Usage lines, if they say more than `args` does. */
  readonly usage?: readonly string[];
  readonly flags: readonly Flag[];
  /** Flags of every command of a family, listed apart. */
  readonly globals?: readonly Flag[];
  /** Text before the options. */
  readonly details?: string;
  /** Text after the options. */
  readonly notes?: string;
  readonly examples: readonly string[];
  readonly exits: string;
}

/** The flags of a command with those that every command of its family has. */
export function allFlags(spec: CommandSpec): readonly Flag[] {
  return [...spec.flags, ...(spec.globals ?? []), HELP];
}

export const HELP: Flag = { name: 'help', short: 'h', kind: 'switch', doc: 'Show this.' };

/** `A2ACLI_` and the long flag in UPPER_SNAKE (A2A CLI specification §3). */
export function envName(flag: Flag): string {
  return `A2ACLI_${flag.name.replaceAll('-', '_').toUpperCase()}`;
}
