import process from 'node:process';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { CortexTask, DirectiveResult, StatusEvent, ToolResult } from './player.ts';

/** CortexPrism's own client, tool wrapper and swarm transport, under Deno: `program-client.ts CHECKOUT`. Reads one JSON command a line and writes one result a line. */
interface Client {
  fetchAgentCard(endpoint: string): Promise<object>;
  sendMessage(card: object, request: object): Promise<CortexTask>;
  sendStreamingMessage(
    card: object,
    request: object,
    onChunk: (chunk: string) => void,
    onStatus: (event: StatusEvent) => void,
  ): Promise<CortexTask>;
  getTask(card: object, id: string): Promise<CortexTask>;
  listTasks(card: object, request: object): Promise<object>;
  cancelTask(card: object, id: string): Promise<CortexTask>;
}

interface Wrapper {
  createA2AToolWrapper(name: string, config: { endpoint: string }): { execute(args: object, context: object): Promise<ToolResult> };
}

interface Swarm {
  createSwarmTransport(): { sendDirective(nodeId: string, directive: object): Promise<DirectiveResult> };
}

interface Command {
  readonly op: 'card' | 'call' | 'stream' | 'tool' | 'directive';
  readonly url: string;
  readonly method?: string;
  readonly params: { readonly id: string };
  readonly card: object;
}

const at = pathToFileURL(`${process.argv[2]}/src/a2a/`).href;
const client: Client = await import(`${at}client.ts`);
const wrapper: Wrapper = await import(`${at}tool-wrapper.ts`);
const swarm: Swarm = await import(new URL('../../packages/infra/src/swarm/transport.ts', at).href);
const tools = new Map<string, ReturnType<Wrapper['createA2AToolWrapper']>>();

for await (const line of createInterface({ input: process.stdin })) {
  void answer(JSON.parse(line)).then((text) => process.stdout.write(`${text}\n`));
}

async function answer({ id, ...command }: Command & { readonly id: number }): Promise<string> {
  try {
    return JSON.stringify({ id, result: (await run(command)) ?? null });
  } catch (error) {
    return JSON.stringify({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

async function run({ op, url, method, params, card }: Command): Promise<unknown> {
  if (op === 'card') return await client.fetchAgentCard(url);
  if (op === 'tool') {
    const tool = tools.get(url) ?? wrapper.createA2AToolWrapper('peer', { endpoint: url });
    tools.set(url, tool);
    return await tool.execute(params, {});
  }
  if (op === 'directive') return await directed(url, params);
  if (op === 'stream') {
    const steps: object[] = [];
    const task = await client.sendStreamingMessage(
      card,
      params,
      (chunk) => steps.push({ chunk }),
      (status) => steps.push({ status }),
    );
    return { steps, task };
  }
  switch (method) {
    case 'GetTask':
      return await client.getTask(card, params.id);
    case 'CancelTask':
      return await client.cancelTask(card, params.id);
    case 'ListTasks':
      return await client.listTasks(card, params);
    default:
      return await client.sendMessage(card, params);
  }
}

/** `program-nodes.ts` knows each node by its address. */
async function directed(url: string, directive: object): Promise<DirectiveResult> {
  const ids = { directiveId: `dir_${crypto.randomUUID()}`, sourceNodeId: 'node-a', targetNodeId: url };
  return await swarm.createSwarmTransport().sendDirective(url, { ...ids, priority: 'normal', ...directive });
}
