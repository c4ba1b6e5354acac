import * as sdk02 from 'a2a-js-02/client';
import * as sdk03 from 'a2a-js-03/client';
import type { Reply, Talk } from '../talk.ts';
import { PeerError } from '../talk.ts';
import { authenticating } from './credentials.ts';
import type { KindResult } from './replies.ts';
import { kindMessage, kindReply } from './replies.ts';

/** The calls of the 0.2 and 0.3 clients, made alike. */
interface KindClient {
  send(params: object): Promise<KindResult>;
  stream(params: object): AsyncIterable<KindResult>;
  get(id: string): Promise<KindResult>;
  cancel(id: string): Promise<KindResult>;
  /** Settles when the client has read the card. */
  readonly opened: Promise<unknown>;
}

/** The client of @a2a-js/sdk 0.3. */
export function talkV03(url: string, binding: 'JSONRPC' | 'HTTP+JSON', credential?: string): Talk {
  const options = authenticating(sdk03.createAuthenticatingFetchWithRetry, credential);
  const transports = [binding === 'JSONRPC' ? new sdk03.JsonRpcTransportFactory(options) : new sdk03.RestTransportFactory(options)];
  const factory = new sdk03.ClientFactory({ transports, cardResolver: new sdk03.DefaultAgentCardResolver() });
  const opened = factory.createFromUrl(url);
  const talk = talkOf({
    send: async (params) => (await (await opened).sendMessage(params as never)) as KindResult,
    stream: async function* (params) {
      yield* (await opened).sendMessageStream(params as never) as AsyncIterable<KindResult>;
    },
    get: async (id) => (await (await opened).getTask({ id }).catch(asPeerError)) as KindResult,
    cancel: async (id) => (await (await opened).cancelTask({ id })) as KindResult,
    opened,
  });
  // Its HTTP+JSON writer and reader know `mimeType` of a file, and no `name`.
  return binding === 'JSONRPC' ? talk : { ...talk, losesFileNames: true };
}

/** The client of @a2a-js/sdk 0.2. It has no place for credentials: it calls the global `fetch`, which is all that a program can replace. */
export function talkV02(url: string, credential?: string): Talk {
  const { fetch: usual } = globalThis;
  const { fetchImpl = usual } = authenticating(sdk03.createAuthenticatingFetchWithRetry, credential);
  globalThis.fetch = fetchImpl;
  const client = new sdk02.A2AClient(url);
  const talk = talkOf({
    send: async (params) => resultOf(await client.sendMessage(params as never)),
    stream: (params) => client.sendMessageStream(params as never) as AsyncIterable<KindResult>,
    get: async (id) => resultOf(await client.getTask({ id })),
    cancel: async (id) => resultOf(await client.cancelTask({ id })),
    opened: client.getAgentCard(),
  });
  const close = async (): Promise<void> => {
    await talk.close();
    globalThis.fetch = usual;
  };
  return { ...talk, close };
}

function talkOf(client: KindClient): Talk {
  return {
    joinsText: true,
    send: async (say) => kindReply(await client.send(kindMessage(say))),
    stream: async (say) => {
      const seen: Reply[] = [];
      for await (const event of client.stream(kindMessage(say))) seen.push(kindReply(event));
      return seen;
    },
    begin: async (say) => {
      for await (const event of client.stream(kindMessage(say))) {
        const reply = kindReply(event);
        if (reply.taskId !== undefined) return reply;
      }
      throw new Error('the stream ended before it named a task');
    },
    get: async (taskId) => kindReply(await client.get(taskId)),
    cancel: async (taskId) => kindReply(await client.cancel(taskId)),
    close: async () => void (await client.opened),
  };
}

function resultOf(answer: object): KindResult {
  const { result, error } = answer as { readonly result: KindResult; readonly error?: { readonly message: string; readonly code: number } };
  if (error !== undefined) throw new PeerError(error.message, error.code);
  return result;
}

/** The 0.3 client raises an error class for each code. */
function asPeerError(error: unknown): never {
  if (error instanceof sdk03.TaskNotFoundError) throw new PeerError(error.message, -32001);
  throw error;
}
