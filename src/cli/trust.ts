import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { configFileIn } from '../server/adapters/config-file.ts';
import { trustFile, trustRecord } from '../server/adapters/trust.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { helpFor } from './flags/help.ts';
import { argumentsOf, parse, switchOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';

const SPEC: CommandSpec = {
  name: 'trust',
  summary: 'accept a configuration or agent file in a folder that agents can write to.',
  args: [{ name: 'FILE', optional: true, many: true }],
  details: `Parley loads a parley.config or an agent file from a folder in which it has served a program only if the file still has its old content, or
if you have accepted the new one. FILE is the file, with everything that it imports by relative paths. Default: the parley.config of this folder.`,
  flags: [
    { name: 'list', kind: 'switch', doc: 'List the folders that agents can write to, and the accepted files.' },
    { name: 'json', kind: 'switch', doc: 'Print one JSON document.' },
  ],
  notes: 'Read the file before you accept it: its code runs with all your rights. On a terminal, parley serve asks by itself.',
  examples: ['parley trust', 'parley trust ./agent.ts', 'parley trust --list'],
  exits: '0 accepted or listed; 2 wrong call, or there is no such file.',
};

export const trustCommand: Command = { name: 'trust', help: helpFor(SPEC), spec: SPEC, run };

async function run(args: readonly string[]): Promise<number> {
  const parsed = parse(SPEC, args);
  argumentsOf(parsed);
  const json = switchOf(parsed, 'json');
  if (switchOf(parsed, 'list')) {
    const record = trustRecord();
    const lines = [
      ...record.workspaces.map((folder) => `agents write to  ${folder}`),
      ...Object.keys(record.files).map((file) => `accepted         ${file}`),
    ];
    process.stdout.write(json ? `${JSON.stringify(record)}\n` : lines.map((line) => `${line}\n`).join(''));
    return 0;
  }
  const found = configFileIn(process.cwd());
  const given = parsed.positionals.length > 0 ? parsed.positionals.map((file) => resolve(file)) : found === undefined ? [] : [found];
  if (given.length === 0)
    throw new CliError('there is no parley.config in this folder', { hint: 'name the file: parley trust FILE', exit: 2 });
  const missing = given.find((file) => !existsSync(file));
  if (missing !== undefined) throw new CliError(`there is no file ${missing}`, { hint: 'check the path', exit: 2 });
  const accepted = given.map(trustFile);
  process.stdout.write(json ? `${JSON.stringify({ accepted })}\n` : accepted.map((file) => `accepted ${file}\n`).join(''));
  return 0;
}
