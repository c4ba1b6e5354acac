import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { behave } from '../behaviour.ts';

/**
 * The program that Society's server runs for a message: `backend.ts FOLDER TEXT --session-id|--resume SESSION`. It is the test agent; what it
 * remembers is in the folder. A failure is an exit code with a reason on standard error.
 */
const [folder = '', text = '', , session = 'none'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const file = join(folder, session);

const [word, rest = ''] = text.split(/\s+(.*)/s);
if (word === 'remember') writeFileSync(file, rest);
if (word === 'recall') {
  process.stdout.write(existsSync(file) ? readFileSync(file, 'utf8') : 'nothing');
} else {
  const say = (chunk: string): void => void process.stdout.write(chunk);
  await behave(
    { text, contextId: session, taskId: session, isCanceled: () => false },
    {
      text: say,
      ask: say,
      fail: (reason) => {
        process.stderr.write(reason);
        process.exitCode = 1;
      },
      echo: () => {},
      complete: () => {},
      canceled: () => {},
    },
  );
}
