import type { McpSource } from './connection.ts';

/**
 * Reads `COMMAND ARGS…`, or a URL for a server over HTTP. Quotes keep words together.
 *
 * ```ts
 * mcpSource('npx -y some-server "my folder"'); // { command: 'npx', args: ['-y', 'some-server', 'my folder'] }
 * mcpSource('https://mcp.example/mcp'); // { url: 'https://mcp.example/mcp' }
 * ```
 */
export function mcpSource(text: string): McpSource {
  if (/^https?:\/\//.test(text)) return { url: text };
  const [command, ...args] = wordsOf(text);
  if (command === undefined) throw new TypeError('mcp: the command is missing. Example: mcp:"npx -y some-mcp-server"');
  return { command, args };
}

function wordsOf(text: string): readonly string[] {
  const found = [...text.matchAll(/(?:"([^"]*)"|'([^']*)'|([^\s"']+))+/g)];
  return found.map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ''));
}
