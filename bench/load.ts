import { connect } from 'node:net';

/**
 * A client that costs little: raw sockets, one request under way on each, answers told by their length. What it saves goes to
 * the server, which shares the machine with it.
 */
export async function requestsPerSecond(
  url: string,
  bodies: () => string,
  options: { readonly connections: number; readonly ms: number /** Whole lines. */; readonly headers?: string },
): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const until = performance.now() + options.ms;
  const head = (body: string): string =>
    `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\n${options.headers ?? ''}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const counts = await Promise.all(
    Array.from({ length: options.connections }, () => oneConnection(Number(port), () => head(bodies()), until)),
  );
  return counts.reduce((sum, count) => sum + count, 0) / (options.ms / 1000);
}

function oneConnection(port: number, next: () => string, until: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let done = 0;
    let missing = -1;
    let gathered: Buffer = Buffer.alloc(0);
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('connect', () => socket.write(next()));
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      gathered = gathered.length === 0 ? chunk : Buffer.concat([gathered, chunk]);
      if (missing < 0) missing = lengthOf(gathered);
      if (missing < 0 || gathered.length < missing) return;
      if (done === 0 && gathered.includes('"error"')) return reject(new Error(gathered.toString('utf8')));
      done += 1;
      missing = -1;
      gathered = Buffer.alloc(0);
      if (performance.now() < until) socket.write(next());
      else {
        socket.destroy();
        resolve(done);
      }
    });
  });
}

/** Bytes of the whole answer, head and body; -1 while the head is not complete. */
function lengthOf(answer: Buffer): number {
  const end = answer.indexOf('\r\n\r\n');
  if (end < 0) return -1;
  const length = /content-length: (\d+)/i.exec(answer.subarray(0, end).toString('latin1'))?.[1];
  if (length === undefined) throw new Error('an answer without its length');
  return end + 4 + Number(length);
}
