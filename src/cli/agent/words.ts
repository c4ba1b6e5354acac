import { usage } from '../command.ts';
import type { CliSettings } from '../settings/settings.ts';

/** Ready to be pasted into a shell. */
export function quoted(text: string): string {
  return /^[\w.:/@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Flags that decide which agent is called, and how. Secrets and service parameters are never repeated. */
const REPEATED = ['transport', 'a2a-version', 'extension', 'insecure', 'ca', 'cert', 'cert-key', 'trust-origin', 'config'];

/** The flags of this command line that the next command needs as well. What comes from the environment or a file is there anyway. */
export function repeatedFlags(settings: CliSettings): readonly string[] {
  return REPEATED.flatMap((name) => {
    const setting = settings.find(name);
    if (setting?.source.kind !== 'flag') return [];
    if (setting.flag.kind === 'switch') return setting.values[0] === 'true' ? [`--${name}`] : [];
    return setting.values.map((value) => `--${name} ${quoted(value)}`);
  });
}

/** How the caller named the agent, ready to be typed again. */
export function agentWords({ settings }: { readonly settings: CliSettings }): string {
  for (const [name, flag] of [
    ['agent-card', '-a'],
    ['endpoint', '-e'],
  ] as const) {
    const setting = settings.find(name);
    if (setting !== undefined) return [`${flag} ${quoted(setting.values.at(-1) ?? '')}`, ...repeatedFlags(settings)].join(' ');
  }
  throw usage('--agent-card is missing', 'example: -a agents.example.org, or set A2ACLI_AGENT_CARD');
}

/** Without the flags: `-a agents.example.org --ca f.pem` is `agents.example.org`. */
export function addressIn(agent: string): string {
  return /^-[ae] ('(?:[^']|'\\'')*'|\S+)/.exec(agent)?.[1] ?? agent;
}
