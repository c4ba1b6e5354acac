import type { A2AError, CallContext, Dialect, GetRequest, ListRequest, Logged, Message, Registry, SendRequest } from '#protocol';
import {
  contextId,
  createRegistry,
  createUserMessage,
  DIALECTS,
  dialectId,
  dialectLosses,
  differences,
  equal,
  isA2AError,
  LOCAL_PRINCIPAL,
  messageId,
} from '#protocol';

export const registry: Registry = createRegistry(DIALECTS);

/** A dialect by its id. Undefined while it is not there yet. */
export function dialectIf(id: string): Dialect | undefined {
  return registry.byId(id);
}

export function dialectOf(id: string): Dialect {
  const dialect = dialectIf(id);
  if (dialect === undefined) throw new Error(`no dialect ${id}`);
  return dialect;
}

/** A request as it reached a service, without what `behave` fills in where a dialect shows no history, or lists artifacts, by default. */
export function withoutDefaults(dialect: Dialect, given: unknown): unknown {
  const { includeArtifacts, ...others } = given as ListRequest;
  const request = dialect.traits.listsArtifacts === true && includeArtifacts === true ? others : given;
  return dialect.traits.historyDefault === 'none' ? withoutNoHistory(request) : request;
}

function withoutNoHistory(request: unknown): unknown {
  const { historyLength, configuration, ...rest } = request as GetRequest & SendRequest;
  const { historyLength: sent = 0, ...others } = configuration ?? {};
  const kept = sent === 0 ? others : { ...others, historyLength: sent };
  return {
    ...rest,
    ...(historyLength === undefined || historyLength === 0 ? {} : { historyLength }),
    ...(Object.keys(kept).length === 0 ? {} : { configuration: kept }),
  };
}

export function callContext(more: Partial<CallContext> = {}): CallContext {
  return { principal: LOCAL_PRINCIPAL, dialect: dialectId('v10'), extensions: [], signal: new AbortController().signal, ...more };
}

export function userMessage(text: string, more: Partial<Message> = {}): Message {
  return { ...createUserMessage(text, { messageId: messageId('message-1'), contextId: contextId('context-a') }), ...more };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function collectEvents(stream: AsyncIterable<readonly Logged[]>): Promise<readonly Logged[]> {
  return (await collect(stream)).flat();
}

/** The error that a call ends with. Fails if it succeeds, or fails with anything but an `A2AError`. */
export async function errorOf(call: Promise<unknown>): Promise<A2AError> {
  try {
    await call;
  } catch (thrown) {
    if (isA2AError(thrown)) return thrown;
    throw thrown;
  }
  throw new Error('it succeeded');
}

/** What is different and not in the dialect's table of losses. */
export function unlisted(dialect: Dialect, type: string, [was, is]: readonly [unknown, unknown]): readonly unknown[] {
  return differences(type, was, is).filter(
    (difference) =>
      !dialectLosses(dialect).some(
        (loss) =>
          loss.field === difference.field && (loss.values === undefined || loss.values.some((value) => equal(value, difference.was))),
      ),
  );
}
