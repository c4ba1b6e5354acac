import { expect } from 'vitest';
import type { BindingServeOptions, LinkOptions } from '#bindings';
import { jsonRpcLink, restLink, serveJsonRpc, serveRest } from '#bindings';
import type { A2AService, Dialect, Operation, SendRequest, Task } from '#protocol';
import { DIALECTS, dialectLosses, externalId, isA2AError } from '#protocol';
import { callContext, unlisted, userMessage } from './calls.ts';
import type { MemoryService } from './memory-service.ts';

/** One dialect over one binding: the link calls, the serve half answers, and there is no socket between them. */
export interface Wired {
  readonly name: string;
  readonly binding: 'rpc' | 'rest';
  readonly dialect: Dialect;
  readonly has: (operation: Operation) => boolean;
  readonly open: (service: A2AService, more?: Partial<LinkOptions>, serving?: BindingServeOptions) => A2AService;
}

export const WIRES: readonly Wired[] = DIALECTS.flatMap((dialect) => {
  const { rest } = dialect;
  const base = { dialect, url: 'http://agent.example/a2a' };
  const rpc: Wired = {
    name: `${dialect.id} over JSON-RPC`,
    binding: 'rpc',
    dialect,
    has: (operation) => dialect.methods[operation] !== undefined && writes(dialect, operation),
    open: (service, more, serving) =>
      jsonRpcLink({ ...base, fetch: (request) => serveJsonRpc(request, service, { dialect, ...serving }), ...more }),
  };
  if (rest === undefined) return [rpc];
  const http: Wired = {
    name: `${dialect.id} over HTTP+JSON`,
    binding: 'rest',
    dialect,
    has: (operation) => rest.routes.some((route) => route.operation === operation && route.alias !== true),
    open: (service, more, serving) =>
      restLink({
        ...base,
        fetch: (request) => serveRest(request, service, { dialect, basePath: '/a2a', ...serving }),
        ...more,
      }),
  };
  return dialect.methods.send === undefined ? [http] : [rpc, http];
});

/** A dialect can have a route that it only answers. */
function writes(dialect: Dialect, operation: Operation): boolean {
  try {
    dialect.encode(`${operation}.request`, undefined as never);
    return true;
  } catch (thrown) {
    return !(isA2AError(thrown) && thrown.kind === 'UNSUPPORTED_OPERATION');
  }
}

/** What a test does over a wire. */
export interface Caller {
  request(text: string, more?: Partial<SendRequest>): SendRequest;
  send(link: A2AService, text: string, more?: Partial<SendRequest>): Promise<Task>;
  /** A task that is at work, for those dialects that can leave one so. */
  started(link: A2AService, service: MemoryService): Promise<Task>;
  /** But for what the dialect says that it loses. */
  expectSame(type: string, was: unknown, is: unknown): void;
}

export function callerOver({ dialect }: Wired): Caller {
  const ctx = callContext();
  const request: Caller['request'] = (text, more = {}) => ({
    message: userMessage(text),
    ...(dialect.traits.callerNamesTask ? { alias: externalId('mine-1') } : {}),
    ...more,
  });
  const send: Caller['send'] = async (link, text, more) => {
    const result = await link.send(request(text, more), ctx);
    if (result.task === undefined) throw new Error('no task');
    return result.task;
  };
  return {
    request,
    send,
    started: async (link, service) => {
      const answer = send(link, 'hang', { configuration: { returnImmediately: true } });
      answer.catch(() => undefined);
      return !losesImmediately(dialect) ? await answer : await Promise.race([answer, working(service)]);
    },
    expectSame: (type, was, is) => expect(unlisted(dialect, type, [was, is])).toEqual([]),
  };
}

function losesImmediately(dialect: Dialect): boolean {
  return dialectLosses(dialect).some(
    ({ field }) => field === 'SendConfiguration.returnImmediately' || field === 'SendRequest.configuration',
  );
}

async function working(service: MemoryService): Promise<Task> {
  await expect.poll(() => service.tasks().length).toBeGreaterThan(0);
  const [task] = service.tasks();
  if (task === undefined) throw new Error('no task');
  return task;
}

/** What is in all artifacts of a task. */
export function artifactText(task: Task | undefined): string {
  return (task?.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => part.text ?? '')).join('');
}
