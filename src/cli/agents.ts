import type { CodingAgent } from '#agents';
import { builtInAgents, chooseLaunch, knownAgents } from '#agents';
import { resolveConfig } from '#server';
import { loadConfigFile } from '../server/adapters/config-file.ts';
import type { Command } from './command.ts';
import { helpFor } from './flags/help.ts';
import { argumentsOf, parse, switchOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';

const SPEC: CommandSpec = {
  name: 'agents',
  summary: 'list what can be served on this machine, and how each is started.',
  args: [],
  flags: [
    { name: 'all', kind: 'switch', doc: 'Include coding agents that are not installed here.' },
    { name: 'json', kind: 'switch', doc: 'Print one JSON document.' },
  ],
  notes: `Serve a coding agent by its name: parley serve claude. It is started over the Agent Client Protocol (acp) if it speaks that, otherwise in its
own print mode (native). parley serve claude:native chooses. run.agents in the configuration adds more.`,
  examples: ['parley agents --all'],
  exits: '0 listed; 2 wrong call.',
};

export const agentsCommand: Command = { name: 'agents', help: helpFor(SPEC), spec: SPEC, run };

interface Row {
  readonly name: string;
  readonly title: string;
  readonly found: boolean;
  readonly program: string | null;
  readonly via: 'acp' | 'native' | 'built-in';
  readonly command: readonly string[];
  /** Its permission requests are passed on to the caller. */
  readonly approvals: boolean;
}

/** Lists the built-in agents and the coding agents. Without `--all`, only installed ones. */
async function run(args: readonly string[]): Promise<number> {
  const parsed = parse(SPEC, args);
  argumentsOf(parsed);
  const [all, json] = [switchOf(parsed, 'all'), switchOf(parsed, 'json')];
  const file = await loadConfigFile(process.cwd(), process.env['PARLEY_CONFIG']);
  const { run: settings } = resolveConfig({ env: process.env, ...(file === undefined ? {} : { file }) });
  const coding = knownAgents(settings.agents).map((agent) => rowOf(agent, settings.agents));
  const rows = [...builtIn(), ...coding.filter(({ found }) => all || found || json)];
  process.stdout.write(json ? `${JSON.stringify({ agents: rows }, null, 2)}\n` : textOf(rows, coding, all));
  return 0;
}

function builtIn(): readonly Row[] {
  return [...builtInAgents].map(([name, { description }]) => ({
    ...{ name, title: description, found: true, program: null, via: 'built-in' as const, command: [], approvals: false },
  }));
}

/** Looks for the program of a coding agent in the search path. */
function rowOf({ name, title }: CodingAgent, configured: Parameters<typeof knownAgents>[0]): Row {
  const chosen = chooseLaunch(name, configured === undefined ? {} : { configured });
  const { launch, program } = chosen ?? {};
  return {
    ...{ name, title, found: program !== undefined, program: program ?? null },
    ...{ via: launch?.via ?? 'acp', command: launch?.argv ?? [], approvals: launch?.asks ?? false },
  };
}

/** The table for people, with a hint about agents that are not installed. */
function textOf(rows: readonly Row[], coding: readonly Row[], all: boolean): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.map((row) => {
    const how =
      row.via === 'built-in'
        ? row.title
        : `${row.title}: ${row.command.join(' ')} (${row.via}${row.approvals ? ', asks for approval' : ''})`;
    return `${row.name.padEnd(width)}  ${row.found ? '' : 'not here: '}${how}`;
  });
  const missing = coding.filter(({ found }) => !found);
  const hint =
    all || missing.length === 0
      ? []
      : ['', `Not installed here: ${missing.map(({ name }) => name).join(', ')}. parley agents --all says how they would be started.`];
  return [...lines, ...hint, ''].join('\n');
}
