import { usage } from '../command.ts';
import type { ContractSession } from '../contract/session.ts';
import { GLOBALS } from '../flags/globals.ts';

/** Accepts `card get AGENT` for `card get -a AGENT`. */
export function withAgent(session: ContractSession): ContractSession {
  const [given] = session.words;
  if (given === undefined) return session;
  const { settings } = session;
  if (settings.find('agent-card')?.source.kind === 'flag')
    throw usage(`the agent is named twice: ${given} and --agent-card`, 'leave one of them out');
  const flag = GLOBALS.find(({ name }) => name === 'agent-card');
  if (flag === undefined) return session;
  const setting = { flag, values: [given], source: { kind: 'flag', name: 'AGENT' } } as const;
  return {
    ...session,
    settings: {
      ...settings,
      find: (name) => (name === 'agent-card' ? setting : settings.find(name)),
      text: (name) => (name === 'agent-card' ? given : settings.text(name)),
    },
  };
}
