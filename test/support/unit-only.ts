import child from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { afterEach, vi } from 'vitest';

/** Set up for `npm run test:unit`: a unit test that starts a process or opens a socket fails. Such tests belong in test/. */
function refuse(what: string) {
  return (): never => {
    throw new Error(`A unit test must not ${what}. Move the test to test/.`);
  };
}

for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const)
  Object.defineProperty(child, name, { value: refuse('start a process') });
Object.defineProperty(net.Server.prototype, 'listen', { value: refuse('listen on a socket') });
Object.defineProperty(net.Socket.prototype, 'connect', { value: refuse('open a connection') });
syncBuiltinESMExports();

// The files of this tier share a worker (`isolate: false`), so no test leaves something changed.
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});
