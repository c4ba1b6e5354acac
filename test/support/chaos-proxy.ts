import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** What the proxy does to the bytes of a response. */
export interface Chaos {
  /** Delay of each chunk, in milliseconds. */
  readonly latencyMs?: number;
  /** Splits the response into chunks of at most this many bytes. */
  readonly sliceBytes?: number;
  /** Resets the connection after this many bytes of the response. */
  readonly resetAfterBytes?: () => number;
  /** Stops forwarding after this many bytes, without closing the connection. */
  readonly silentAfterBytes?: () => number;
}

export interface ChaosProxy {
  readonly url: string;
  readonly resets: () => number;
  close(): void;
}

/** A TCP proxy on loopback that delays, splits and cuts responses. */
export async function chaosProxy(port: number, chaos: Chaos): Promise<ChaosProxy> {
  const sockets = new Set<Socket>();
  let resets = 0;
  const carry = (client: Socket): void => {
    const server = connect(port, '127.0.0.1');
    for (const socket of [client, server]) sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    client.pipe(server);
    const resetAt = chaos.resetAfterBytes?.() ?? Number.POSITIVE_INFINITY;
    const silentAt = chaos.silentAfterBytes?.() ?? Number.POSITIVE_INFINITY;
    const pass = async (): Promise<void> => {
      let passed = 0;
      for await (const piece of pieces(server as AsyncIterable<Buffer>, chaos.sliceBytes)) {
        if (chaos.latencyMs !== undefined) await new Promise((resolve) => setTimeout(resolve, chaos.latencyMs));
        client.write(piece.subarray(0, Math.min(resetAt, silentAt) - passed));
        passed += piece.length;
        if (passed >= silentAt) return;
        if (passed < resetAt) continue;
        resets += 1;
        client.resetAndDestroy();
        server.resetAndDestroy();
        return;
      }
      client.end();
    };
    pass().catch(() => client.destroy());
    client.on('close', () => server.destroy());
  };
  const listener = createServer({ noDelay: true }, carry);
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    resets: () => resets,
    close: () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function* pieces(from: AsyncIterable<Buffer>, sliceBytes: number | undefined): AsyncGenerator<Buffer, void> {
  for await (const bytes of from) {
    const step = sliceBytes ?? bytes.length;
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
  }
}
