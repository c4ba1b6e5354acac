import { connect } from 'node:net';

/** `abuser.ts PORT KEY CONNECTIONS`: sends as fast as it gets responses until its input ends, then prints how often it got each status. */
const [port, key, connections] = process.argv.slice(2);
const counts: Record<string, number> = {};
let sent = 0;

function request(): string {
  sent += 1;
  const body = JSON.stringify({
    message: { messageId: `abuse-${process.pid}-${sent}`, role: 'ROLE_USER', parts: [{ text: 'chunks=20' }] },
  });
  return `POST /message:send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

function flood(): void {
  const socket = connect(Number(port), '127.0.0.1');
  let gathered = '';
  socket.on('connect', () => socket.write(request()));
  socket.on('error', () => undefined);
  socket.on('data', (piece: Buffer) => {
    gathered += piece.toString('latin1');
    const end = gathered.indexOf('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(gathered)?.[1] ?? -1);
    if (end === -1 || length === -1 || gathered.length < end + 4 + length) return;
    const status = gathered.slice(9, 12);
    counts[status] = (counts[status] ?? 0) + 1;
    gathered = '';
    socket.write(request());
  });
}

for (let at = 0; at < Number(connections); at += 1) flood();
process.stdin.resume().on('end', () => {
  process.stdout.write(JSON.stringify(counts));
  process.exit(0);
});
