import { connect, createServer, type Socket } from 'node:net';

/**
 * What happens to the next commit on its way to the server.
 *
 * - `before`: it is dropped, and the connection is cut.
 * - `reply`: the server executes it, and the connection is cut before the answer.
 * - `late`: the client's connection is cut, and the server gets the bytes when `deliver` is called.
 */
export type CommitCut = 'before' | 'reply' | 'late';

/** A proxy in front of a Postgres server that can cut the connection of a commit. */
export interface PostgresProxy {
  readonly port: number;
  /** Cuts the next commit. `onCut` is called at once, before the client can do anything about it. */
  cutNext(how: CommitCut, onCut?: () => void): void;
  /** Cuts that have happened. */
  readonly cuts: number;
  /** Delivers the bytes that a `late` cut held back. */
  deliver(): void;
  /** Cuts every connection, and refuses new ones until `heal`. */
  partition(): void;
  heal(): void;
  /** Cuts every connection. New ones go to another server, as after a failover. */
  switchTo(port: number): void;
  close(): Promise<void>;
}

/** The name of every prepared commit starts with it (commit-sql.ts). */
const COMMIT = 'commit-';

export async function startPostgresProxy(serverPort: number): Promise<PostgresProxy> {
  const open = new Set<Socket>();
  let next: CommitCut | undefined;
  let afterCut: (() => void) | undefined;
  let cuts = 0;
  let isPartitioned = false;
  let target = serverPort;
  let held: (() => void)[] = [];
  /** Sockets to the server that wait for bytes on their way. They outlive a partition. */
  const waiting = new Set<Socket>();
  const carry = (client: Socket): void => {
    if (isPartitioned) {
      client.destroy();
      return;
    }
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true });
    let isCut = false;
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => void open.delete(socket));
    }
    client.on('data', (bytes: Buffer) => {
      if (isCut) return;
      const how = next !== undefined && bytes.includes(COMMIT) ? next : undefined;
      if (how === undefined) {
        server.write(bytes);
        return;
      }
      next = undefined;
      isCut = true;
      cuts += 1;
      if (how === 'before') {
        client.destroy();
        server.destroy();
      } else if (how === 'late') {
        client.destroy();
        waiting.add(server);
        held.push(() => void server.write(bytes));
      } else server.write(bytes);
      afterCut?.();
    });
    // With `reply` the server has answered, so the commit is durable when the client loses its connection.
    server.on('data', (bytes) => {
      if (!isCut) client.write(bytes);
      else {
        client.destroy();
        // The server ends its session. Without this, some hundred cuts would use up all of its connections.
        server.end();
      }
    });
    client.on('close', () => {
      if (!isCut) server.destroy();
    });
    server.on('close', () => client.destroy());
  };
  const listener = createServer({ noDelay: true }, carry);
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    cutNext: (how, onCut) => {
      next = how;
      afterCut = onCut;
    },
    get cuts() {
      return cuts;
    },
    deliver: () => {
      for (const send of held) send();
      held = [];
      waiting.clear();
    },
    partition: () => {
      isPartitioned = true;
      for (const socket of open) if (!waiting.has(socket)) socket.destroy();
    },
    heal: () => {
      isPartitioned = false;
    },
    switchTo: (port) => {
      target = port;
      for (const socket of open) socket.destroy();
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
