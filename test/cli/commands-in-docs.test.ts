import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Command } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = ['README.md', 'CONTRIBUTING.md', 'llms.txt', '.agents/**/*.md', 'docs/**/*.md', 'examples/**/*.md'];
const commands = new Map<string, Command>();
for (const { name, aliases = [], load } of COMMANDS) {
  const command = await load();
  for (const each of [name, ...aliases]) commands.set(each, command);
}

/** The commands on a page, in code blocks and in code within a sentence. */
function commandsIn(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```sh.*\n([\s\S]*?)^```/gm)].flatMap(([, code = '']) => code.replaceAll('\\\n', ' ').split('\n'));
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return [...blocks, ...spans].flatMap((line) =>
    [...line.matchAll(/(?:^|[ /(])parley ((?:"[^"]*"|'[^']*'|[^|;&>()"'#])+)/g)].map(([, rest = '']) => rest),
  );
}

/** What is wrong with a command. Undefined: nothing. */
function mistakeIn(line: string): string | undefined {
  const words = line
    .replaceAll(/"[^"]*"|'[^']*'/g, 'TEXT')
    .trim()
    .split(/\s+/);
  const [first = ''] = words;
  if (!/^[a-z]/.test(first) || first === 'help') return undefined;
  const command = commands.get(first);
  if (command === undefined) return `there is no command ${first}`;
  const below = subcommandOf(command, words.slice(1));
  const end = words.indexOf('--');
  for (const word of words.slice(1, end === -1 ? undefined : end)) {
    const flag = /^--[a-z][a-z0-9-]*/.exec(word)?.[0];
    if (flag !== undefined && !new RegExp(`${flag}(?![a-z0-9-])`).test(below.help) && !isHidden(below, flag))
      return `${first} has no flag ${flag}`;
  }
  return undefined;
}

/** `task push-config listen` is two levels below `task`. */
function subcommandOf(command: Command, [word, ...rest]: readonly string[]): Command {
  const found = command.below?.find(({ name }) => name.split(' ').at(-1) === word);
  return found === undefined ? command : subcommandOf(found, rest);
}

/** Some spellings work but are not in the help text: other names of a flag, and its negative. */
function isHidden({ spec }: Command, flag: string): boolean {
  return (spec?.flags ?? []).some(({ name, aliases = [] }) => [name, ...aliases].includes(flag.slice(2)));
}

it('every command and flag in the documentation, llms.txt and the agent skill exists', () => {
  const wrong: string[] = [];
  let count = 0;
  for (const page of PAGES.flatMap((pattern) => globSync(pattern, { cwd: ROOT }))) {
    if (/decisions|cli-conformance|reference[/\\]/.test(page)) continue;
    for (const line of commandsIn(readFileSync(`${ROOT}/${page}`, 'utf8'))) {
      count += 1;
      const mistake = mistakeIn(line);
      if (mistake !== undefined) wrong.push(`${page}: parley ${line}: ${mistake}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(150);
});

it('finds a command that does not exist, and a flag', () => {
  expect(mistakeIn('srve ./agent.ts')).toBe('there is no command srve');
  expect(mistakeIn('serve ./agent.ts --prot 1')).toBe('serve has no flag --prot');
  expect(mistakeIn('task get --wait TASK')).toBeUndefined();
});
