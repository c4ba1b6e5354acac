import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Listening } from './listen.ts';

/** The versions of the official SDK that are still in use, each installed from npm under its own name. */
export type SdkVersion = '1.3.0' | '0.3.13' | '0.2.5';

const MAIN = fileURLToPath(new URL('../interop/children/sdk-server.ts', import.meta.url));

/** The official SDK's server in its own process, with an agent that follows `script`'s directives. */
export async function sdkExpress(version: SdkVersion, streaming: 'said' | 'unsaid' = 'said'): Promise<Listening> {
  const child = spawn(process.execPath, ['--conditions=our-src', MAIN, version, streaming], { stdio: ['ignore', 'pipe', 'inherit'] });
  const atExit = (): void => void child.kill('SIGKILL');
  process.once('exit', atExit);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      const line = out.split('\n').find((each) => each.startsWith('{"event":"ready"'));
      if (line !== undefined && out.includes('\n')) resolve((JSON.parse(line) as { url: string }).url);
    });
    void ended.then(() => reject(new Error(`the server of ${version} ended before it was ready`)));
  });
  return {
    url,
    close: async () => {
      child.kill('SIGKILL');
      await ended;
      process.off('exit', atExit);
    },
  };
}
