import type { FoundAgent } from '../../server/adapters/serve-configured.ts';
import { mcpAgent, mcpSource } from '../../tools/adapters/mcp.ts';
import { CliError } from '../command.ts';
import type { OutboundSettings } from '../remote/guarded-fetch.ts';
import { guardedFetchFor } from '../remote/guarded-fetch.ts';

/** `mcp:COMMAND`: starts an MCP server and offers its tools as the skills of an agent. The server ends with this process. */
export async function mcpServed(given: string, settings: OutboundSettings): Promise<FoundAgent> {
  const text = given.slice('mcp:'.length).trim();
  try {
    const source = mcpSource(text);
    const agent = await mcpAgent(source, 'url' in source ? { fetch: guardedFetchFor([source.url], settings) } : {});
    // The child's standard input is our pipe. It closes when this process ends, even after a crash.
    return { agent, source: given };
  } catch (thrown) {
    const isMissing = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing)
      throw new CliError(`there is no program ${text.split(' ')[0]}`, { hint: 'example: parley serve "mcp:npx some-mcp-server"', exit: 2 });
    const hint = 'try the command by itself: an MCP server waits for its host and says nothing';
    throw new CliError(`${given}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { hint, exit: text === '' ? 2 : 1 });
  }
}
