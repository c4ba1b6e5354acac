import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { rssMib } from '../../support/http-seeds.ts';
import { cut, payloads } from './cases.ts';
import type { FuzzCase, FuzzSurface } from './surface.ts';
import { assertNoErrors, within } from './surface.ts';

const PARLEY = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));

/** Lines on the standard input of `parley serve --stdio`. */
export async function stdioSurface(): Promise<FuzzSurface> {
  const args = ['--conditions=our-src', '--disable-warning=ExperimentalWarning', PARLEY, 'serve', 'echo', '--stdio', '--memory'];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let [tail, errors, asked] = ['', '', 0];
  const waiting = new Map<string, (line: string) => void>();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-100_000);
  });
  child.stdin.on('error', () => undefined); // it has ended, which the next check reports
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (tail + text).split('\n');
    tail = lines.pop() ?? '';
    for (const line of lines) {
      const id = /"id":"(good-\d+)"/.exec(line)?.[1];
      if (id !== undefined) waiting.get(id)?.(line);
    }
  });
  const write = (text: string): Promise<void> => new Promise((resolve) => child.stdin.write(Buffer.from(text, 'latin1'), () => resolve()));
  const check = async (): Promise<void> => {
    asked += 1;
    const id = `good-${asked}`;
    const answer = new Promise<string>((resolve) => waiting.set(id, resolve));
    const message = { messageId: id, role: 'ROLE_USER', parts: [{ text: 'still here' }] };
    await write(`\n${JSON.stringify({ jsonrpc: '2.0', id, method: 'SendMessage', params: { message } })}\n`);
    const line = await within('a good request', answer);
    if (!line.includes('TASK_STATE_COMPLETED')) throw new Error(`a good request got ${line.slice(0, 500)}`);
    assertNoErrors(errors);
    if (child.exitCode !== null) throw new Error(`the node ended with ${child.exitCode}`);
  };
  return {
    name: 'stdio',
    cases: lines(),
    send: async (input) => {
      for (const piece of input) await within('writing', write(piece));
    },
    check,
    rssMib: () => rssMib(child.pid ?? 0),
    close: async () => {
      child.kill('SIGKILL');
    },
  };
}

function lines(): fc.Arbitrary<FuzzCase> {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
  const documents = [
    'SendMessage',
    'SendStreamingMessage',
    'GetTask',
    'ListTasks',
    'message/send',
    'tasks/send',
    'agent/card',
    '$/cancel',
  ].map((method) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message, id: 't' } }));
  const line = fc.tuple(payloads(documents), fc.constantFrom('\n', '\r\n', '\n\n')).map((parts) => parts.join(''));
  return cut(fc.array(line, { maxLength: 5 })).map((pieces) => [...pieces, '\n']);
}
