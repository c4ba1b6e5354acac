/** One flag, described once: parsing, help, completion, the environment and `config show` are made of this. */
export interface Flag {
  /** The canonical long spelling, without dashes. */
  readonly name: string;
  readonly short?: string;
  readonly aliases?: readonly string[];
  /** `switch` takes no value, `text` one, `list` one each time it is given. */
  readonly kind: 'text' | 'switch' | 'list';
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly oneOf?: readonly string[];
  readonly doc: string;
  /** `A2ACLI_NAME` and the configuration files set it too. */
  readonly env?: true;
  readonly secret?: true;
  /** For the help and `config show`. */
  readonly default?: string;
}

export interface Argument {
  readonly name: string;
  readonly optional?: true;
  /** Takes all that is left. */
  readonly many?: true;
}

export interface CommandSpec {
  /** As typed after `parley`: `task get`. */
  readonly name: string;
  readonly summary: string;
  readonly args: readonly Argument[];
  readonly flags: readonly Flag[];
  /** Flags of every command of a family, listed apart. */
  readonly globals?: readonly Flag[];
  readonly details?: string;
  readonly examples: readonly string[];
  readonly exits: string;
}

export function allFlags(spec: CommandSpec): readonly Flag[] {
  return [...spec.flags, ...(spec.globals ?? []), HELP];
}

export const HELP: Flag = { name: 'help', short: 'h', kind: 'switch', doc: 'Show this.' };

/** `A2ACLI_` and the long flag in UPPER_SNAKE (reference/cli §3). */
export function envName(flag: Flag): string {
  return `A2ACLI_${flag.name.replaceAll('-', '_').toUpperCase()}`;
}
