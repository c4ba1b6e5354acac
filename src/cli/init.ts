import { basename, relative, resolve } from 'node:path';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { helpFor } from './flags/help.ts';
import { argumentsOf, parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { linkTools } from './init/link.ts';
import { packagesOf, projectFiles, TEMPLATES } from './init/template.ts';
import { writeProject } from './init/write.ts';

const SPEC: CommandSpec = {
  name: 'init',
  summary: 'create an agent project with a test and a script that serves it.',
  args: [{ name: 'FOLDER', optional: true }],
  details: `FOLDER is created if it does not exist, and must be empty. Default: this folder. The project is typed, and has a test that passes. It runs
at once: this Parley is linked into its node_modules, and nothing is downloaded.`,
  flags: [
    { name: 'name', kind: 'text', value: 'NAME', default: "the folder's name", doc: 'The name of the agent.' },
    {
      name: 'template',
      short: 't',
      kind: 'text',
      value: Object.keys(TEMPLATES).join('|'),
      default: 'function',
      doc: `What the agent is: ${Object.entries(TEMPLATES)
        .map(([name, { doc }]) => `${name}, ${doc}`)
        .join('; ')}.`,
    },
    { name: 'json', kind: 'switch', doc: 'Print one JSON object: folder, name, files.' },
  ],
  examples: ['parley init my-agent', 'parley init my-agent --template llm'],
  exits: '0 created; 1 it could not be written; 2 wrong call, or the folder is not empty.',
};

export const initCommand: Command = { name: 'init', help: helpFor(SPEC), spec: SPEC, run };

/**
 * Writes the project and links the packages that this machine has, so that it runs without `npm
 * install`.
 */
async function run(args: readonly string[]): Promise<number> {
  const parsed = parse(SPEC, args);
  const [given = '.'] = argumentsOf(parsed);
  const named = textOf(parsed, 'name');
  const folder = resolve(given);
  const name = agentName(named ?? basename(folder), named === undefined ? '--name NAME' : '--name my-agent');
  const asked = textOf(parsed, 'template') ?? 'function';
  const template = TEMPLATES[asked];
  if (template === undefined)
    throw new CliError(`there is no template ${asked}`, { meant: { word: asked, known: Object.keys(TEMPLATES) }, exit: 2 });
  const tools = linkTools(folder);
  const files = projectFiles(name, template, tools);
  writeProject(folder, files);
  tools.link(packagesOf(template), (line) => process.stderr.write(`${line}\n`));
  if (switchOf(parsed, 'json')) process.stdout.write(`${JSON.stringify({ folder, name, files: Object.keys(files) })}\n`);
  else process.stdout.write(nextSteps(folder, name, Object.keys(files)));
  return 0;
}

/** The agent's name in addresses and in package.json. */
function agentName(given: string, hint: string): string {
  const name = given
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|(?<!-)-+$/g, '');
  if (name === '' || name.length > 64)
    throw new CliError(`${given} can't be made into a name for an agent`, { hint: `choose one with ${hint}`, exit: 2 });
  return name;
}

/** What to type next in the new project. */
function nextSteps(folder: string, name: string, files: readonly string[]): string {
  const here = relative(process.cwd(), folder);
  return [
    `Created ${name} in ${folder}: ${files.join(', ')}`,
    '',
    'Next:',
    ...(here === '' ? [] : [`  cd ${here.startsWith('..') ? folder : here}`]),
    '  npm test         run its test',
    '  npm run dev      serve it at http://127.0.0.1:41242 while you write it',
    '  npm run check    check its types',
    '',
  ].join('\n');
}
