import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded before the server. On SIGUSR2 it collects garbage and prints to standard error how much memory the heap and the buffers hold.
 * The resident memory of the process would say little, because it also grows with garbage.
 */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  process.stderr.write(`held ${heapUsed + external}\n`);
});
