import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { PromptKitApi, PromptKitTask, StreamEvent } from './player.ts';
import { RpcError } from './player.ts';
import type { ToolApi } from './tools.ts';

/**
 * PromptKit's own code in the folder that PARLEY_PEERS names: `promptkit/peer`, built of `program/` and test/peers/go/shared/behaviour.go against a
 * checkout of AltairaLabs/PromptKit.
 */
export const PROGRAM: string = join(process.env['PARLEY_PEERS'] ?? '', 'promptkit/peer');
export const isProgramThere: boolean = process.env['PARLEY_PEERS'] !== undefined && existsSync(PROGRAM);

interface Waiting {
  event(event: StreamEvent): void;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** PromptKit's own client, tool bridge and executor, in a process of their own. */
export function programClient(url: string): PromptKitApi & { readonly tools: ToolApi } {
  const child = spawn(PROGRAM, ['client', url], { stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<number, Waiting>();
  let last = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, event, result, error } = JSON.parse(line) as {
      id: number;
      event?: StreamEvent;
      result?: unknown;
      error?: { code: number; message: string };
    };
    const found = waiting.get(id);
    if (event !== undefined) return found?.event(event);
    waiting.delete(id);
    if (error === undefined) return found?.resolve(result);
    return found?.reject(error.code === 0 ? new Error(error.message) : new RpcError(error.code, error.message));
  });
  const ask = <T>(command: object, event: Waiting['event'] = () => {}): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      last += 1;
      waiting.set(last, { event, resolve: resolve as Waiting['resolve'], reject });
      child.stdin.write(`${JSON.stringify({ id: last, ...command })}\n`);
    });
  return {
    send: (message, configuration) => ask<PromptKitTask>({ op: 'send', message, configuration }),
    get: (task) => ask<PromptKitTask>({ op: 'get', task }),
    cancel: async (task) => void (await ask({ op: 'cancel', task })),
    list: async (context) => (await ask<readonly PromptKitTask[] | null>({ op: 'list', context })) ?? [],
    stream: (message) => eventsOf((event) => ask({ op: 'stream', message }, event)),
    close: () => child.kill(),
    tools: {
      register: async () => {
        const found = await ask<readonly { readonly name: string; readonly schema: { readonly properties: object } }[]>({ op: 'tools' });
        return found.map(({ name, schema }) => ({ name, inputs: Object.keys(schema.properties) }));
      },
      execute: (tool, args) => ask({ op: 'execute', tool, args }),
    },
  };
}

/** Events as they come, until the call that sends them is done. */
async function* eventsOf(begin: (event: (event: StreamEvent) => void) => Promise<unknown>): AsyncGenerator<StreamEvent> {
  const seen: StreamEvent[] = [];
  let isDone = false;
  let wake = (): void => {};
  const done = begin((event) => {
    seen.push(event);
    wake();
  }).finally(() => {
    isDone = true;
    wake();
  });
  done.catch(() => {});
  for (;;) {
    for (const event of seen.splice(0)) yield event;
    if (isDone && seen.length === 0) break;
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (isDone || seen.length > 0) resolve();
    });
  }
  await done;
}
