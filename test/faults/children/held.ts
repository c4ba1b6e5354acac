import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded before the server: asked by SIGUSR2, it collects its garbage and says on standard error how much memory is really held, in
 * the heap and in buffers beside it. What the process has of the system says little about that: it grows with what was thrown away.
 */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  process.stderr.write(`held ${heapUsed + external}\n`);
});
