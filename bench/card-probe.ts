// A process of its own: requests an address again and again, and returns how long each response took. In the process that reads the measured
// stream, a request would also wait for that work, and only then begin: such a time says little about the server.
import { Agent, get } from 'node:http';

const [url = ''] = process.argv.slice(2);
const PAUSE_MS = 5;
const agent = new Agent({ keepAlive: true });
const waits: number[] = [];
let isOver = false;

process.once('message', () => {
  isOver = true;
});
process.once('disconnect', () => process.exit());

function once(): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, (response) => {
      response.resume();
      response.once('end', resolve);
    });
    request.once('error', reject);
  });
}

await once(); // opens the connection
process.send?.('ready');
while (!isOver) {
  const began = performance.now();
  await once();
  waits.push(performance.now() - began);
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
process.send?.(waits);
process.disconnect();
agent.destroy();
