import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { scratchFolder } from '../../../test/support/scratch.ts';
import { openSqliteStore } from '../../engine/adapters/sqlite.ts';
import { noteServed } from '../../server/adapters/data-note.ts';
import { auditCommand } from '../audit.ts';
import { backupCommand } from '../backup.ts';
import type { Command } from '../command.ts';
import { CliError } from '../command.ts';
import { eraseCommand } from '../erase.ts';
import { exportCommand } from '../export.ts';
import { restoreCommand } from '../restore.ts';
import { storeCommand } from '../store.ts';

/** What operators see when they name something wrong. No node runs. */
const root = scratchFolder();
const at = (...names: readonly string[]): string => join(root, ...names);
const data = at('data');

const open = (): ReturnType<typeof openSqliteStore> => openSqliteStore(join(data, 'tasks.db'), { ballastBytes: 0 });

beforeAll(async () => {
  for (const name of ['data', 'auth', 'none']) mkdirSync(at(name), { mode: 0o700 });
  const keys = { keys: [{ id: 'a1', name: 'ann', scopes: [], createdAt: '2026-01-01T00:00:00Z', hash: 'h' }] };
  writeFileSync(at('auth/api-keys.json'), JSON.stringify(keys), { mode: 0o600 });
  writeFileSync(at('file'), '');
  symlinkSync(at('loop'), at('loop'));
  await open().close();
});

let out = '';
beforeEach(() => {
  out = '';
  vi.stubEnv('PARLEY_AUTH_FOLDER', at('auth'));
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Message and hint of a command that fails, and its exit code. */
async function refused(command: Command, ...args: readonly string[]): Promise<string> {
  try {
    return `exit ${await command.run(args)}: ${out}`;
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    return `exit ${thrown.exit}: ${thrown.message}; ${thrown.hint ?? ''}`;
  }
}

describe('a wrong folder', () => {
  it.each<readonly [string, Command, readonly string[], RegExp]>([
    ['backup to /proc', backupCommand, ['/proc/x', '--data', data], /^exit 1: (?:no folder can be created at \/proc\/x|.*read-only)/],
    ['backup to a file', backupCommand, [at('file'), '--data', data], /^exit 1: .*file is a file, not a folder/],
    ['backup of a file', backupCommand, [at('x'), '--data', at('file')], /^exit 1: a part of .*file\/tasks\.db is a file, not a folder/],
    ['backup of a place that can not be read', backupCommand, [at('x'), '--data', at('loop')], /^exit 1: .*loop\/tasks\.db is a link that/],
    ['backup --verify of a file', backupCommand, ['--verify', at('file')], /^exit 1: .*file is a file, not a folder/],
    ['backup --verify of nothing', backupCommand, ['--verify'], /^exit 2: which backup\? name its folder/],
    ['backup to nothing', backupCommand, [], /^exit 2: where to\? name a new folder/],
    ['restore of a file', restoreCommand, [at('file'), '--data', at('x')], /^exit 1: .*file is a file, not a folder/],
    ['restore to a file', restoreCommand, [at('none'), '--data', at('file')], /^exit 1: .*file is a file, not a folder/],
    ['store stats', storeCommand, ['stats', '--data', at('loop')], /^exit 1: .*is a link that leads to itself/],
    ['store stats without tasks', storeCommand, ['stats', '--data', at('none')], /^exit 2: .*none has no tasks/],
    ['audit verify of a file', auditCommand, ['verify', '--data', at('file')], /^exit 1: a part of .*audit\.jsonl is a file/],
    ['audit export without rights', auditCommand, ['export', '--data', at('loop')], /^exit 1: .*is a link that leads to itself/],
    ['audit tail of a folder', auditCommand, ['tail', '--file', at('none')], /^exit 1: .*none is a folder, not a file/],
    ['audit tail of nothing', auditCommand, ['tail', '--data', at('none')], /^exit 1: there is no audit log .*none\/audit\.jsonl/],
  ])('%s', async (_, command, args, words) => {
    expect(await refused(command, ...args)).toMatch(words);
    expect(readdirSync(root)).not.toContain('x');
  });
});

describe('a caller that nothing is known of', () => {
  it('is an error that names the caller who was meant, and nothing is written', async () => {
    const near = /^exit 1: nothing is known of a caller ann; did you mean --principal key:ann\?/;
    expect(await refused(eraseCommand, '--principal', 'ann', '--data', data, '--yes')).toMatch(near);
    expect(await refused(exportCommand, '--principal', 'ann', '--data', data, '--dir', at('x'))).toMatch(near);
    expect(await refused(exportCommand, '--principal', 'key:zoe', '--data', data)).toMatch(/key:zoe; parley audit tail and the console/);
    expect(out).toBe('');
    expect(readdirSync(root)).not.toContain('x');
  });

  it('is no error if there is an API key of that name', async () => {
    expect(await refused(eraseCommand, '--principal', 'key:ann', '--data', data, '--dry-run')).toMatch(/^exit 0: 0 tasks/);
  });
});

describe('the folder of the API keys', () => {
  it('is the one that the last node used, and a backup without keys says so', async () => {
    vi.stubEnv('PARLEY_AUTH_FOLDER', '');
    const made = async (name: string, ...more: readonly string[]): Promise<string> =>
      await refused(backupCommand, at(name), '--data', data, ...more);
    expect(await made('without', '--auth-folder', at('none'))).toMatch(
      /complete\.\nIt has NO API KEYS: there are none in .*none\. If the node has some elsewhere, name their folder with --auth-folder/,
    );
    out = '';
    noteServed(data, at('none')); // so the node has no keys
    const { apiKeys, noKeysIn } = JSON.parse((await made('json', '--json')).slice('exit 0: '.length)) as Record<string, unknown>;
    expect([apiKeys, noKeysIn]).toEqual([false, undefined]);
    noteServed(data, at('auth'));
    out = '';
    expect(await made('with')).toMatch(/complete\.\n$/);
    expect(readFileSync(at('with/auth/api-keys.json'), 'utf8')).toContain('ann');
  });

  it('is asked for if another process has the store open', async () => {
    const store = open();
    expect(await refused(storeCommand, 'stats', '--data', data)).toMatch(
      /^exit 1: .*is in use by process .*; .*auth\/nodes: name the folder of its API keys with --auth-folder/,
    );
    await store.close();
  });
});
