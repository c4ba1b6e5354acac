/**
 * Both sides of A2A: `defineAgent` and `serve` make an agent, `connect` calls one. The rooms have more:
 * `parley-a2a/agents`, `parley-a2a/server`, `parley-a2a/client` and others.
 *
 * ```ts
 * import { connect, defineAgent, serve } from 'parley-a2a';
 *
 * const node = await serve(defineAgent({ name: 'hello', description: 'Greets.', run: (turn) => `Hello, ${turn.text}!` }));
 * const agent = await connect(node.url);
 * console.log(await agent.send('Ada').text());
 * await node.close();
 * ```
 */
import type { NodeServer, ServeOptions } from './server/adapters/node.ts';
import type { AgentLike } from './server/index.ts';

export { file } from './agents/file.ts';
export * from './browser.ts';
export type { NodeServer, ServeOptions };

/**
 * Serves agents on this machine, at port 41242 unless `port` says otherwise. The server is loaded when
 * this is called.
 *
 * ```ts
 * const node = await serve(agent, { port: 8080 });
 * ```
 */
export async function serve(agents: AgentLike | readonly AgentLike[], options: ServeOptions = {}): Promise<NodeServer> {
  const { serve: start } = await import('./server/adapters/node.ts');
  return await start(agents, options);
}
