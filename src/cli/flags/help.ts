import { usageLine } from './parse.ts';
import type { CommandSpec, Flag } from './spec.ts';
import { HELP } from './spec.ts';

/** The default of a flag on this machine, if the environment or a file sets it. */
export type EffectiveDefaults = (flag: Flag) => string | undefined;

/** The help text of a command, made from its declaration. */
export function helpFor(spec: CommandSpec, now: EffectiveDefaults = () => undefined): string {
  const { globals, usage = [usageLine(spec)] } = spec;
  const blocks = [
    `parley ${spec.name}: ${spec.summary}`,
    usage.map((line, at) => `${at === 0 ? 'Usage:' : '      '} ${line}`).join('\n'),
    ...(spec.details === undefined ? [] : [spec.details.trim()]),
    optionBlocks([...spec.flags, ...(globals === undefined ? [HELP] : [])], now),
    ...(globals === undefined
      ? []
      : [block('Global options', [...globals, HELP], { width: widthOf([...globals, HELP]), now }), GLOBALS_NOTE]),
    ...(spec.notes === undefined ? [] : [spec.notes.trim()]),
    ...(spec.examples.length === 0
      ? []
      : [[spec.examples.length === 1 ? 'Example:' : 'Examples:', ...spec.examples.map((example) => `  ${example}`)].join('\n')]),
    `Exit codes: ${spec.exits}`,
  ];
  return `${blocks.join('\n\n')}\n`;
}

const GLOBALS_NOTE = `A flag wins over its environment variable (A2ACLI_ and the long name, as A2ACLI_AGENT_CARD), that over the nearest .env, that over
~/.config/a2a-cli/.env. Secrets given as flags can be seen in the process table and in the shell's history: prefer the environment.`;

const DEFAULT_GROUP = 'Options';

/** A block for each group, in the order of the first flag of each. */
export function optionBlocks(flags: readonly Flag[], now: EffectiveDefaults = () => undefined): string {
  const groups = [...new Set(flags.map(({ group }) => group ?? DEFAULT_GROUP))];
  const width = widthOf(flags);
  return groups
    .map((title) =>
      block(
        title,
        flags.filter(({ group }) => (group ?? DEFAULT_GROUP) === title),
        { width, now },
      ),
    )
    .join('\n\n');
}

interface BlockStyle {
  readonly width: number;
  readonly now: EffectiveDefaults;
}

function block(title: string, flags: readonly Flag[], { width, now }: BlockStyle): string {
  return [`${title}:`, ...flags.map((flag) => `  ${spelling(flag).padEnd(width)}  ${describe(flag, now(flag))}`)].join('\n');
}

const WIDTH_MAX = 34;

function widthOf(flags: readonly Flag[]): number {
  return Math.min(WIDTH_MAX, Math.max(...flags.map((flag) => spelling(flag).length)));
}

function spelling({ name, short, value, oneOf, kind }: Flag): string {
  const word = kind === 'switch' ? '' : ` ${value ?? oneOf?.join('|') ?? 'TEXT'}`;
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${word}`;
}

/** The text of a flag, with its aliases and its default. */
function describe({ doc, kind, aliases, default: builtIn }: Flag, now: string | undefined): string {
  const value = now ?? builtIn;
  const more = [
    ...(kind === 'list' ? ['repeatable'] : []),
    ...(aliases === undefined ? [] : [`also ${aliases.map((alias) => `--${alias}`).join(', ')}`]),
    ...(value === undefined ? [] : [`default: ${value}`]),
  ];
  return more.length === 0 ? doc : `${doc} (${more.join('; ')})`;
}
