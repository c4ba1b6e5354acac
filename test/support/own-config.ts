import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Each test file has a configuration folder of its own: tokens and trusted files there are neither the user's nor another test's. */
const folder = mkdtempSync(join(tmpdir(), 'parley-config-'));
process.env['XDG_CONFIG_HOME'] = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
