import type { Command } from './command.ts';
import { commandGroup } from './command-group.ts';
import { printJson } from './contract/results.ts';
import type { ContractSession } from './contract/session.ts';
import { contractCommand } from './contract/session.ts';
import { CONFIGURABLE, GLOBALS } from './flags/globals.ts';
import type { Flag } from './flags/spec.ts';
import { envName } from './flags/spec.ts';
import { oneLine } from './output/plain-text.ts';
import { resolveSettings, sourceText } from './settings/settings.ts';
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
    exits: '0 shown; 1 a file is damaged; 2 wrong usage, or an invalid setting.',
  },
  async (session) => {
    const rows = [...CONFIGURABLE.map((flag) => rowFor(session, flag)), ...storedRows()];
    if (session.json) printJson(session, { settings: rows });
    else
      for (const { name, value, source } of rows) session.out(`${name}: ${value === null ? 'not set' : `${oneLine(value)} (${source})`}\n`);
    return 0;
  },
);

interface Row {
  readonly [member: string]: string | null;
  readonly name: string;
  readonly value: string | null;
  readonly source: string;
}

/** A setting with its value and source. Secrets are masked. */
function rowFor(session: ContractSession, flag: Flag): Row {
  const setting = session.settings.find(flag.name) ?? resolveSettings(session.parsed, undefined, [flag]).find(flag.name);
  if (setting === undefined) return { name: flag.name, env: envName(flag), value: flag.default ?? null, source: 'default' };
  const value = flag.secret === true ? '***' : setting.values.join(', ');
  return { name: flag.name, env: envName(flag), value, source: sourceText(setting.source) };
}

/** The tokens of `auth login`, masked. */
function storedRows(): readonly Row[] {
  const store = openLoginStore();
  return store.all().map(({ origin, scheme, tokens }) => ({
    name: `token for ${origin}`,
    value: `*** (${scheme}${tokens?.expiresAtMs === undefined ? '' : `, until ${new Date(tokens.expiresAtMs).toISOString()}`})`,
    source: store.path,
  }));
}

export const configCommand: Command = commandGroup({
  name: 'config',
  summary: 'show the settings and where they come from.',
  commands: [showCommand],
  contract: true,
});
