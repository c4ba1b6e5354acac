import { resolveConfig } from '#server';
import { loadConfigFile } from '../../server/adapters/config-file.ts';
import { CliError } from '../command.ts';

/** A remote agent of the configuration. */
export interface ConfiguredAgent {
  readonly name: string;
  readonly endpoint: string;
  readonly agentCardUrl: string | undefined;
  readonly authToken: string | undefined;
  readonly timeout: number | undefined;
  /** The configuration file. */
  readonly source: string;
}

/** The remote agents of parley.config (`a2a.remoteAgents`). */
export async function remoteAgents(cwd: string = process.cwd()): Promise<readonly ConfiguredAgent[]> {
  try {
    const file = await loadConfigFile(cwd, process.env['PARLEY_CONFIG']);
    if (file === undefined) return [];
    const { remoteAgents: found } = resolveConfig({ flags: new Map(), env: process.env, file }).a2a;
    return Object.entries(found).map(([name, { endpoint, agentCardUrl, authToken, timeout }]) => ({
      name,
      endpoint,
      agentCardUrl,
      authToken,
      timeout,
      source: file.path,
    }));
  } catch (thrown) {
    throw new CliError(thrown instanceof Error ? thrown.message : String(thrown), { hint: 'docs/config.md lists every key', exit: 2 });
  }
}
