// Stands in for a coding CLI: replays a recorded stream, and records its arguments and its input. Lines of the recording
// that begin with `$` are stage directions: `$wait TEXT` until a line of its input holds that, `$exit N`, `$input` until its input ends.
import { appendFileSync, readFileSync } from 'node:fs';

const [program = '', ...args] = process.argv.slice(2);
const record = process.env['REPLAY_RECORD'] ?? '/dev/null';
const wanted = args.some((arg) => arg === 'lost-session' || arg.endsWith('=lost-session')) ? 'lost' : (process.env['REPLAY_STREAM'] ?? '');

appendFileSync(record, `${JSON.stringify({ program, args, cwd: process.cwd() })}\n`);
if (wanted === 'lost') {
  process.stderr.write('No conversation found with that session\n');
  process.exit(1);
}

let input = '';
let isOver = false;
let wake: () => void = () => {};
process.stdin.setEncoding('utf8').on('data', (text: string) => {
  input += text;
  wake();
});
process.stdin.on('end', () => {
  isOver = true;
  wake();
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

for (const line of readFileSync(wanted, 'utf8').split('\n')) {
  const [direction, ...rest] = line.split(' ');
  if (direction === '$wait') {
    const text = rest.join(' ');
    await until(() => input.includes(text));
    input = input.slice(input.indexOf(text) + text.length);
  } else if (direction === '$input') {
    await until(() => isOver);
    appendFileSync(record, `${JSON.stringify({ input })}\n`);
  } else if (direction === '$exit') process.exit(Number(rest[0]));
  else if (line !== '') process.stdout.write(`${line.replaceAll('@CWD', process.cwd())}\n`);
}
process.stdin.destroy();
