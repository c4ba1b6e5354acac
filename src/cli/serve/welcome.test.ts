import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parleyWord } from './welcome.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('how the program is called', () => {
  it('is the path of bin/parley, if parley is not on the search path', () => {
    vi.stubEnv('PATH', '');
    expect(existsSync(resolve(parleyWord()))).toBe(true);
  });
});
