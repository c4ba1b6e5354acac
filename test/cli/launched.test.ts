import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const LAUNCHED = new URL('../../src/cli/launched.ts', import.meta.url);

interface Launched {
  readonly child: ChildProcess;
  /** Resolves when the process has ended. */
  readonly ended: Promise<{ readonly signal: NodeJS.Signals | null; readonly out: string }>;
}

/** A process that bin/parley has started, as far as Ctrl-C is concerned. `listening`: the code that listens for it. */
async function launched(listening: string): Promise<Launched> {
  const script = `import { followLauncher } from ${JSON.stringify(fileURLToPath(LAUNCHED))};
    followLauncher();
    setInterval(() => {}, 1000);
    const end = () => { console.log('done'); process.exit(0); };
    ${listening}
    process.send('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  let out = '';
  child.stdout?.on('data', (text: Buffer) => {
    out += text.toString();
  });
  const ended = once(child, 'close').then(([, signal]: (NodeJS.Signals | null)[]) => ({ signal: signal ?? null, out }));
  await once(child, 'message');
  return { child, ended };
}

describe.skipIf(process.platform === 'win32')('Ctrl-C that bin/parley passes on', () => {
  it('is the one that has reached the command by itself, also if the command listens once', async () => {
    const { child, ended } = await launched(
      `process.once('SIGINT', () => { console.log('heard'); process.send('heard'); process.on('message', (m) => m === 'end' && end()); });`,
    );
    child.kill('SIGINT');
    await once(child, 'message');
    child.send('SIGINT');
    child.send('end');
    expect(await ended).toEqual({ signal: null, out: 'heard\ndone\n' });
  });

  it('reaches a command that did not get it', async () => {
    const { child, ended } = await launched(`process.once('SIGINT', () => { console.log('heard'); end(); });`);
    child.send('SIGINT');
    expect(await ended).toEqual({ signal: null, out: 'heard\ndone\n' });
  });

  it.each([
    ['does not listen', ''],
    ['does not listen any more', `process.once('SIGINT', end).off('SIGINT', end);`],
  ])('ends a command that %s', async (_, listening) => {
    const passed = await launched(listening);
    passed.child.send('SIGINT');
    expect(await passed.ended).toEqual({ signal: 'SIGINT', out: '' });
    const typed = await launched(listening);
    typed.child.kill('SIGINT');
    expect(await typed.ended).toEqual({ signal: 'SIGINT', out: '' });
  });
});
