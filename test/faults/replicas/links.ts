import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** One proxy in front of the listener of each node for the others. It knows which node has opened a connection. */
export interface NodeLinks {
  /** The port that the others see, by the number of the node. */
  readonly ports: readonly number[];
  /** Drops all data from and to this node, without closing a connection. */
  cut(at: number): void;
  /** Connections of that time stay dead, as behind a router that has forgotten them. New ones work. */
  heal(at: number): void;
  /** How many connections a node has tried to open to another one while one of the two was cut off. */
  readonly refused: { readonly from: number; readonly to: number };
  close(): void;
}

/** A connection through a proxy, with both of its sockets. */
interface Carried {
  readonly from: number | undefined;
  readonly to: number;
  readonly sockets: readonly Socket[];
}

/** `pids`: the processes of the nodes, which may change. */
export async function startLinks(direct: readonly number[], pids: () => ReadonlyMap<number, number>): Promise<NodeLinks> {
  const carried = new Set<Carried>();
  const isCut = new Set<number>();
  const refused = { from: 0, to: 0 };
  const accept = (to: number, client: Socket): void => {
    const from = [...pids()].find(([, pid]) => hasSocket(pid, client.remotePort ?? 0))?.[0];
    const server = connect(direct[to] ?? 0, '127.0.0.1');
    const each: Carried = { from, to, sockets: [client, server] };
    carried.add(each);
    const end = (): void => {
      carried.delete(each);
      client.destroy();
      server.destroy();
    };
    for (const socket of each.sockets) socket.on('error', () => undefined).on('close', end);
    if (from !== undefined && isCut.has(from)) refused.from += 1;
    if (isCut.has(to)) refused.to += 1;
    if (isCut.has(to) || (from !== undefined && isCut.has(from))) return;
    client.pipe(server);
    server.pipe(client);
  };
  const concerns = (at: number): readonly Carried[] => [...carried].filter(({ from, to }) => from === at || to === at);
  const listeners = direct.map((_, to) => createServer({ noDelay: true }, (client) => accept(to, client)));
  for (const listener of listeners) await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    ports: listeners.map((listener) => (listener.address() as AddressInfo).port),
    cut: (at) => {
      isCut.add(at);
      for (const { sockets } of concerns(at)) for (const socket of sockets) socket.unpipe().pause();
    },
    heal: (at) => {
      isCut.delete(at);
      for (const { sockets } of concerns(at)) for (const socket of sockets) socket.destroy();
    },
    refused,
    close: () => {
      for (const listener of listeners) listener.close();
      for (const { sockets } of carried) for (const socket of sockets) socket.destroy();
    },
  };
}

/** Whether a process has a TCP socket with this local port. */
function hasSocket(pid: number, port: number): boolean {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = new Set<string>();
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, address = '', , , , , , , , inode = ''] = line.trim().split(/\s+/);
    if (address.endsWith(local) && inode !== '0') inodes.add(`socket:[${inode}]`);
  }
  return filesOf(pid).some((file) => inodes.has(file));
}

/** What the open files of a process are. Empty if it has ended. */
function filesOf(pid: number): readonly string[] {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).map((name) => {
      try {
        return readlinkSync(`${folder}/${name}`);
      } catch {
        return ''; // closed meanwhile
      }
    });
  } catch {
    return [];
  }
}
