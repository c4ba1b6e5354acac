import { basename, relative, resolve } from 'node:path';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { readArgs } from './flags/own.ts';
import { linkTools } from './init/link.ts';
import { projectFiles } from './init/template.ts';
import { writeProject } from './init/write.ts';

export const initCommand: Command = {
  name: 'init',
  help: `parley init: a new agent project, with a test and a script that serves it.

Usage: parley init [FOLDER] [OPTIONS]

FOLDER is made if it is not there, and must be empty; without it, this folder. The project is typed, its test puts a mock in the place of
another agent, and it runs at once: this very Parley is linked into its node_modules, and nothing is downloaded.

Options:
  --name NAME   What the agent is called. (the folder's name)
  --json        Print one JSON object: folder, name, files.

Example:
  parley init my-agent

Exit codes: 0 made, 1 it could not be written, 2 wrong call, or there are files already.
`,
  run,
};

const OPTIONS = { name: { type: 'string' }, json: { type: 'boolean' } } as const;

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs('init', args, OPTIONS);
  const [given = '.', ...more] = positionals;
  if (more.length > 0) throw new CliError(`there is no place for ${more[0]}`, { hint: 'as: parley init FOLDER', exit: 2 });
  const folder = resolve(given);
  const name = agentName(values.name ?? basename(folder), values.name === undefined ? '--name NAME' : '--name my-agent');
  const tools = linkTools(folder);
  const files = projectFiles(name, tools);
  writeProject(folder, files);
  tools.link();
  if (values.json === true) process.stdout.write(`${JSON.stringify({ folder, name, files: Object.keys(files) })}\n`);
  else process.stdout.write(nextWords(folder, name, Object.keys(files)));
  return 0;
}

/** As it stands in addresses and in package.json. */
function agentName(given: string, hint: string): string {
  const name = given
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  if (name === '' || name.length > 64)
    throw new CliError(`${given} gives no name for an agent`, { hint: `choose one with ${hint}`, exit: 2 });
  return name;
}

function nextWords(folder: string, name: string, files: readonly string[]): string {
  const here = relative(process.cwd(), folder);
  return [
    `Made ${name} in ${folder}: ${files.join(', ')}`,
    '',
    'Next:',
    ...(here === '' ? [] : [`  cd ${here.startsWith('..') ? folder : here}`]),
    '  npm test         run its test',
    '  npm start        serve it at http://127.0.0.1:41242',
    '  npm run check    check its types',
    '',
  ].join('\n');
}
