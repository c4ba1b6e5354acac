import { openAudit } from '../../../src/server/adapters/audit-file.ts';

/**
 * Appends records as fast as they can be written, to files of a few records each, and prints the number of the last record that is written.
 * `early` is the control: it prints the number before the record is written.
 */
const [, , path = '', mode] = process.argv;
const log = await openAudit(path, { bytesMax: 600 });
let { last: seq } = await log.read({ limit: 1 });
for (;;) {
  for (let each = 0; each < 3; each += 1) {
    log.append({ principal: 'ann', action: 'send', object: `task-${seq}`, decision: 'allowed' });
    seq += 1;
  }
  if (mode === 'early') {
    process.stdout.write(`${seq}\n`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  } else {
    await log.written?.();
    process.stdout.write(`${seq}\n`);
  }
}
