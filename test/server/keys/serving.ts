import { defineAgent } from '#agents';
import type { Agent } from '#protocol';
import type { ParleyConfig, Settings } from '#server';
import { resolveConfig } from '#server';
import { findAgent } from '../../../src/cli/serve/find-agent.ts';
import type { NodeServer } from '../../../src/server/adapters/node.ts';
import type { ServeConfiguredOptions } from '../../../src/server/adapters/serve-configured.ts';
import { logFor, serveConfigured } from '../../../src/server/adapters/serve-configured.ts';
import { eventually } from '../../support/eventually.ts';
import { sendBody } from '../../support/server.ts';

/** A check for each setting, by its key. It serves with the setting, and fails if the setting is ignored. */
export type Checks = Readonly<Record<string, () => Promise<void>>>;

let ignored: string | undefined;

/** The control: runs a check while its setting is ignored. */
export async function ignoring(key: string, check: () => Promise<void>): Promise<void> {
  ignored = key;
  try {
    await check();
  } finally {
    ignored = undefined;
  }
}

export function resolved(config: ParleyConfig): Settings {
  return resolveConfig({ file: { path: 'parley.config.ts', config: ignored === undefined ? config : without(config, ignored) } });
}

function without(config: ParleyConfig, key: string): ParleyConfig {
  const copy: Record<string, unknown> = structuredCloned(config);
  const steps = key.split('.');
  const last = steps.pop() ?? '';
  const holder = steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], copy);
  if (holder !== undefined) delete (holder as Record<string, unknown>)[last];
  return copy;
}

/** Agents contain functions, which can't be cloned, so they are kept as they are. */
function structuredCloned({ agents, ...config }: ParleyConfig): Record<string, unknown> {
  return { ...structuredClone(config), ...(agents === undefined ? {} : { agents }) };
}

interface Setup {
  readonly agent?: Agent;
  readonly lines?: string[];
  readonly console?: NonNullable<ServeConfiguredOptions['console']>;
  readonly docs?: NonNullable<ServeConfiguredOptions['docs']>;
}

/** Serves with this configuration, as `parley serve` does, and closes the server afterwards. */
export async function served(
  given: ParleyConfig,
  use: (server: NodeServer, settings: Settings) => Promise<void>,
  setup: Setup = {},
): Promise<void> {
  const base: ParleyConfig = { port: 0, memory: true, agents: ['script', 'echo'], log: 'silent' };
  const settings = resolved({ ...base, ...given });
  const found =
    setup.agent === undefined
      ? await Promise.all(settings.agents.map((given) => findAgent(given, settings)))
      : [{ agent: setup.agent, source: 'x' }];
  const log = logFor(settings, { write: (line) => setup.lines?.push(line) });
  const { console: files, docs } = setup;
  const pages = { ...(files === undefined ? {} : { console: files }), ...(docs === undefined ? {} : { docs }) };
  const server = await serveConfigured(found, settings, { log, ...pages });
  try {
    await use(server, settings);
  } finally {
    await server.close();
  }
}

export const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) });

export interface Sent {
  readonly task: { readonly id: string; readonly contextId: string; readonly status: { readonly state: string } };
}
export const send = async ({ url }: NodeServer, text: string, configuration: object = {}): Promise<Sent['task']> =>
  ((await (await post(`${url}/message:send`, sendBody(text, { configuration }))).json()) as Sent).task;
export const start = (server: NodeServer, text: string): Promise<Sent['task']> => send(server, text, { returnImmediately: true });
export const stateOf = async ({ url }: NodeServer, id: string): Promise<string> =>
  ((await (await fetch(`${url}/tasks/${id}`)).json()) as Sent['task']).status.state;
export const cardOf = async ({ url }: NodeServer): Promise<Record<string, unknown>> =>
  (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as Record<string, unknown>;

/** Waits until a finished task has been deleted. */
export async function gone(server: NodeServer): Promise<void> {
  const { id } = await send(server, 'x');
  await eventually(async () => (await fetch(`${server.url}/tasks/${id}`)).status === 404);
}

/** Asks within its run, and keeps state for each conversation. */
export const talker: Agent = defineAgent({
  name: 'talker',
  description: 'asks',
  open: () => ({ open: true }),
  run: async (turn) => (turn.text === 'ask' ? (await turn.ask('well?')).text : 'x'),
});
