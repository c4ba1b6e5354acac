import { usageLine } from './parse.ts';
import type { CommandSpec, Flag } from './spec.ts';
import { HELP } from './spec.ts';

/** A command's whole help, out of its description. */
export function helpFor(spec: CommandSpec): string {
  const groups = [
    lines('Options:', [...spec.flags, ...(spec.globals === undefined ? [HELP] : [])]),
    lines('Global options:', globalsOf(spec)),
  ];
  return [
    `parley ${spec.name}: ${spec.summary}`,
    '',
    `Usage: ${usageLine(spec)}`,
    '',
    ...(spec.details === undefined ? [] : [spec.details.trim(), '']),
    ...groups.filter((group) => group.length > 0).flatMap((group) => [...group, '']),
    ...(spec.globals === undefined ? [] : [NOTE, '']),
    spec.examples.length === 1 ? 'Example:' : 'Examples:',
    ...spec.examples.map((example) => `  ${example}`),
    '',
    `Exit codes: ${spec.exits}`,
    '',
  ].join('\n');
}

const NOTE = `A flag wins over its environment variable (A2ACLI_ and the long name, as A2ACLI_AGENT_CARD), that over the nearest .env, that over
~/.config/a2a-cli/.env. Secrets given as flags can be seen in the process table and in the shell's history: prefer the environment.`;

function globalsOf({ globals }: CommandSpec): readonly Flag[] {
  return globals === undefined ? [] : [...globals, HELP];
}

function lines(title: string, flags: readonly Flag[]): readonly string[] {
  if (flags.length === 0) return [];
  const rows = flags.map((flag) => [heads(flag), about(flag)] as const);
  const width = Math.min(34, Math.max(...rows.map(([head]) => head.length)));
  return [title, ...rows.map(([head, doc]) => `  ${head.padEnd(width)}  ${doc}`)];
}

function heads({ name, short, value, oneOf, kind }: Flag): string {
  const word = kind === 'switch' ? '' : ` ${value ?? oneOf?.join('|') ?? 'TEXT'}`;
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${word}`;
}

function about({ doc, kind, aliases, default: unless }: Flag): string {
  const more = [
    ...(kind === 'list' ? ['repeatable'] : []),
    ...(aliases === undefined ? [] : [`also ${aliases.map((alias) => `--${alias}`).join(', ')}`]),
    ...(unless === undefined ? [] : [`default: ${unless}`]),
  ];
  return more.length === 0 ? doc : `${doc} (${more.join('; ')})`;
}
