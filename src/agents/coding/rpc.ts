import type { JsonObject } from '#protocol';
import type { Child } from '../process/child.ts';
import { isJsonObject, numberAt, objectAt, objectIn, textAt } from '../process/json-line.ts';
import { linesOf } from '../process/output.ts';

/** Codex's app-server: JSON-RPC, an object a line, without the `jsonrpc` member. */
export interface Rpc {
  call(method: string, params: JsonObject): Promise<JsonObject>;
  notify(method: string, params: JsonObject): void;
  /** Resolves when the other side has closed. */
  readonly closed: Promise<void>;
}

/** An error that Codex returned, with its JSON-RPC code. */
export class RpcError extends Error {
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

/** Handles what Codex sends by itself. */
export interface Listener {
  /** Awaited before more is read. */
  room(): Promise<void>;
  /** A notification. */
  notice(method: string, params: JsonObject): void;
  /** A request of Codex. Undefined: unknown method, which is answered with an error. */
  request(method: string, params: JsonObject): Promise<JsonObject> | undefined;
}

interface Pending {
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

/** Starts reading the program's output, and calls the listener until the program closes it. */
export function createRpc(child: Child, listener: Listener): Rpc {
  const pending = new Map<number, Pending>();
  let last = 0;
  const send = (message: JsonObject): void => void child.write(`${JSON.stringify(message)}\n`);
  const closed = listen(child, listener, { pending, send }).finally(() => {
    for (const { reject } of pending.values()) reject(new Error('the app-server has closed its output'));
    pending.clear();
  });
  return {
    call: (method, params) =>
      new Promise((resolve, reject) => {
        last += 1;
        pending.set(last, { resolve, reject });
        send({ id: last, method, params });
      }),
    notify: (method, params) => send({ method, params }),
    closed,
  };
}

interface Wire {
  readonly pending: Map<number, Pending>;
  send(message: JsonObject): void;
}

/** Reads messages, no faster than their events are consumed. */
async function listen(child: Child, listener: Listener, wire: Wire): Promise<void> {
  for await (const lines of linesOf(child.stdout)) {
    for (const { text, dropped } of lines) {
      const message = dropped > 0 ? undefined : objectIn(text);
      if (message === undefined) continue;
      await listener.room();
      receive(message, listener, wire);
    }
  }
}

/** A response, a notification or a request of the program. */
function receive(message: JsonObject, listener: Listener, { pending, send }: Wire): void {
  const method = textAt(message, 'method');
  const { id } = message;
  if (method === undefined) {
    const waiting = typeof id === 'number' ? pending.get(id) : undefined;
    if (waiting === undefined) return;
    pending.delete(id as number);
    const error = message['error'];
    if (isJsonObject(error)) waiting.reject(new RpcError(textAt(error, 'message') ?? 'an error', numberAt(error, 'code') ?? 0));
    else waiting.resolve(objectAt(message, 'result'));
    return;
  }
  if (id === undefined) {
    listener.notice(method, objectAt(message, 'params'));
    return;
  }
  const answer = listener.request(method, objectAt(message, 'params'));
  if (answer === undefined) send({ id, error: { code: -32_601, message: `there is no ${method} here` } });
  else void answer.then((result) => send({ id, result }));
}
