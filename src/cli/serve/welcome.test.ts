import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parleyWord, stoppingText } from './welcome.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('how the program is called', () => {
  it('is the path of bin/parley, if parley is not on the search path', () => {
    vi.stubEnv('PATH', '');
    expect(existsSync(resolve(parleyWord()))).toBe(true);
  });
});

describe('what a node says when it is asked to stop', () => {
  const settings = { limits: {}, memory: false };
  const idle = { running: 0, queued: 0, asking: 0, streams: 0 };

  it('names what it waits for, and for how long at most', () => {
    expect(stoppingText({ ...idle, running: 2, streams: 1 }, settings)).toBe(
      '\nStopping. It waits for 2 running tasks, 1 open stream, at most 10 s; Ctrl-C again stops at once. What is not done continues with the next start.\n',
    );
  });

  it('waits for nothing if nothing runs, or if agents only wait for an answer', () => {
    expect(stoppingText(idle, settings)).toBe('\nStopping …\n');
    expect(stoppingText({ ...idle, asking: 1 }, settings)).toBe('\nStopping. What is not done continues with the next start.\n');
  });
});
