import type { McpSource } from './agent.ts';

/** `mcp:COMMAND ARGS…`, or `mcp:URL` for a server that is reached over HTTP. Quotes keep words together. */
export function mcpSource(text: string): McpSource {
  if (/^https?:\/\//.test(text)) return { url: text };
  const [command, ...args] = wordsOf(text);
  if (command === undefined) throw new TypeError('mcp: which command? As: mcp:"npx -y some-mcp-server"');
  return { command, args };
}

function wordsOf(text: string): readonly string[] {
  const found = [...text.matchAll(/(?:"([^"]*)"|'([^']*)'|([^\s"']+))+/g)];
  return found.map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ''));
}
