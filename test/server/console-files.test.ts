import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createConsole } from '../../src/server/adapters/console.ts';
import { scratchFolder } from '../support/scratch.ts';

it('serves the console after its files appear, if a build replaced them during the first request', async () => {
  const parent = scratchFolder();
  const folder = join(parent, 'console');
  const files = createConsole({ folder });
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'assets/a.js'), '1');
  expect(String((await files('/console/')).body)).toContain('missing');
  writeFileSync(join(folder, 'index.html'), '<p>the console</p>');
  expect((await files('/console/')).body).toBe('<p>the console</p>');
});
