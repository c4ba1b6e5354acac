import type { Command } from './command.ts';
import { commandGroup } from './command-group.ts';
import { printJson } from './contract/results.ts';
import type { ContractSession } from './contract/session.ts';
import { contractCommand } from './contract/session.ts';
import { CONFIGURABLE, GLOBALS } from './flags/globals.ts';
import type { Flag } from './flags/spec.ts';
import { envName } from './flags/spec.ts';
import { oneLine } from './output/plain-text.ts';
import { checkDuration } from './run-context.ts';
import type { CliSettings, SettingSource } from './settings/settings.ts';
import { sourceText } from './settings/settings.ts';
import { openLoginStore } from './settings/tokens.ts';

const showCommand = contractCommand(
  {
    name: 'config show',
    summary: 'show each setting, its value and its source. Changes nothing.',
    args: [],
    flags: CONFIGURABLE.filter((flag) => !GLOBALS.includes(flag)),
    globals: GLOBALS,
    details: `Files hold lines such as A2ACLI_AGENT_CARD=agents.example.org: the nearest .env from here upwards (or --config FILE, to keep one for each
agent), and ~/.config/a2a-cli/.env. Tokens of auth login are in ~/.config/a2a-cli/credentials.json, which only you can read.`,
    examples: ['parley config show', 'parley config show --config ./staging.env -o json'],
    exits: '0 shown, also if a setting can’t be used; 1 failed; 2 wrong usage.',
  },
  async (session) => {
    const bad = problems.splice(0);
    const rows = [...CONFIGURABLE.map((flag) => rowFor(session, flag, bad)), ...storedRows()];
    if (session.json) printJson(session, { settings: rows });
    else for (const row of rows) session.out(rowText(row));
    for (const { problem } of rows) if (problem !== null) session.note(`warning: ${problem}\n`);
    return 0;
  },
  { onBad: (flag, source, { message }) => void problems.push({ flag, source, problem: message }) },
);

interface Problem {
  readonly flag: Flag;
  readonly source: SettingSource;
  readonly problem: string;
}

/** What could not be read while the settings of this run were resolved. */
const problems: Problem[] = [];

interface Row {
  readonly [member: string]: string | null;
  readonly name: string;
  readonly value: string | null;
  readonly source: string;
  /** Why a value of a stronger source, or this one, can't be used. */
  readonly problem: string | null;
}

function rowText({ name, value, source, problem }: Row): string {
  const shown = value === null ? 'not set' : `${oneLine(value)} (${source})`;
  return `${name}: ${shown}${problem === null ? '' : `; ${oneLine(problem)}`}\n`;
}

/** A setting with its value and source. Secrets are masked. */
function rowFor({ settings, secrets }: ContractSession, flag: Flag, bad: readonly Problem[]): Row {
  const setting = settings.find(flag.name);
  const problem = bad.find((one) => one.flag.name === flag.name)?.problem ?? durationProblem(settings, flag);
  const about = { name: flag.name, env: envName(flag), problem };
  if (setting === undefined) return { ...about, value: flag.default ?? null, source: 'default' };
  const value = flag.secret === true ? '***' : secrets.mask(setting.values.join(', '));
  return { ...about, value, source: sourceText(setting.source) };
}

function durationProblem(settings: CliSettings, { name }: Flag): string | null {
  if (name !== 'timeout' && name !== 'poll-interval') return null;
  try {
    checkDuration(settings, name);
    return null;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** The tokens of `auth login`, masked. */
function storedRows(): readonly Row[] {
  const store = openLoginStore();
  let logins: ReturnType<typeof store.all>;
  try {
    logins = store.all();
  } catch (thrown) {
    const problem = thrown instanceof Error ? thrown.message : String(thrown);
    return [{ name: 'tokens', value: null, source: store.path, problem }];
  }
  return logins.map(({ origin, scheme, tokens }) => ({
    name: `token for ${origin}`,
    value: `*** (${scheme}${tokens?.expiresAtMs === undefined ? '' : `, until ${new Date(tokens.expiresAtMs).toISOString()}`})`,
    source: store.path,
    problem: null,
  }));
}

export const configCommand: Command = commandGroup({
  name: 'config',
  summary: 'show the settings and where they come from.',
  commands: [showCommand],
});
