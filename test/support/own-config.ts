import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/**
 * Each test file has folders of its own for configuration and data: tokens, trusted files and tasks there are neither the user's nor another
 * test's.
 */
const folder = mkdtempSync(join(tmpdir(), 'parley-config-'));
process.env['XDG_CONFIG_HOME'] = folder;
process.env['XDG_DATA_HOME'] = join(folder, 'data');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
