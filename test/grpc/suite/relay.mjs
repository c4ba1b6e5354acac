// The server program that the suite starts: passes what the suite writes to run.ts, and its answer back. It imports nothing of ours, because
// the suite waits ten seconds for the answer, and a busy machine may need longer to load a node.
import { connect } from 'node:net';

const socket = connect(process.argv[2]);
process.stdin.pipe(socket, { end: false });
socket.pipe(process.stdout);
