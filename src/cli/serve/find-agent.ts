import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { builtInAgents } from '#agents';
import type { AgentLike, Settings } from '#server';
import { suggest } from '#server';
import { defaultExportOf } from '../../server/adapters/module-file.ts';
import type { FoundAgent } from '../../server/adapters/serve-configured.ts';
import { checkTrusted } from '../../server/adapters/trust.ts';
import { isAddress } from '../agent/address.ts';
import { CliError } from '../command.ts';
import { codingAgent, codingNames } from './command-agents.ts';

/** Loads the default export of a file. */
export type LoadModule = (path: string) => Promise<unknown>;

/** Finds an AGENT of the command line or the configuration. */
export async function findAgent(given: string | AgentLike, settings: Settings, load: LoadModule = defaultExportOf): Promise<FoundAgent> {
  if (typeof given !== 'string') return { agent: given, source: given.card.name };
  const builtIn = builtInAgents.get(given);
  if (builtIn !== undefined) return { agent: builtIn.create({ profile: settings.profile }), source: given };
  if (given === 'llm') {
    const { llmServed } = await import('./llm-agent.ts');
    return await llmServed(settings);
  }
  if (given.startsWith('mcp:')) {
    const { mcpServed } = await import('./mcp-agent.ts');
    return await mcpServed(given, settings);
  }
  if (/\.[cm]?[jt]s$/.test(given) && !/^https?:/.test(given)) return fromModule(given, load);
  if (/\.ya?ml$/.test(given) && !/^https?:/.test(given)) {
    const { workflowServed } = await import('./workflow-agent.ts');
    return await workflowServed(given, settings);
  }
  if (settings.a2a.remoteAgents[given] !== undefined || isAddress(given)) {
    const { proxied } = await import('../remote/proxy-agent.ts');
    return await proxied(given, settings);
  }
  const coding = codingAgent(given, settings);
  if (coding !== undefined) return coding;
  const file = ['.ts', '.mts', '.js', '.mjs'].map((ending) => `${given}${ending}`).find((name) => existsSync(name));
  if (file !== undefined) throw new CliError(`there is no agent ${given}`, { hint: `the file is called: parley serve ${file}`, exit: 2 });
  const known = [...builtInAgents.keys(), ...codingNames(settings)];
  const near = suggest(given, known);
  throw new CliError(`there is no agent ${given}${near === undefined ? '' : `; did you mean ${near}?`}`, {
    hint: `agents: ${[...builtInAgents.keys()].join(', ')}, llm, a coding CLI (parley agents lists them), a .ts or .js file, an address, mcp:COMMAND, or -- COMMAND`,
    exit: 2,
  });
}

/** Loads an agent from a file. It must be the default export. */
async function fromModule(given: string, load: LoadModule): Promise<FoundAgent> {
  const path = resolve(given);
  if (!existsSync(path)) throw new CliError(`there is no file ${path}`, { hint: 'check the path; parley init makes a new agent', exit: 2 });
  await checkTrusted(path);
  const exported = await load(path);
  if (isAgent(exported)) return { agent: exported, source: path };
  throw new CliError(`${path} does not default-export an agent`, {
    hint: "write: export default defineAgent({ name: 'mine', description: 'what it does', run: (turn) => turn.text });",
  });
}

function isAgent(value: unknown): value is AgentLike {
  return typeof value === 'object' && value !== null && 'card' in value && ('run' in value || 'service' in value);
}
