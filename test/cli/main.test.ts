import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN, parley } from './run.ts';

describe('parley', () => {
  it('lists its commands', () => {
    const { code, out } = parley([]);
    expect(code).toBe(0);
    expect(out).toContain('translate');
  });

  it('prints its version and nothing else', () => {
    expect(parley(['--version']).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('starts on the Node of the machine, however old', () => {
    const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
    const node = folders.map((folder) => join(folder, 'node')).find(existsSync) ?? process.execPath;
    expect(parley(['--version'], '', node).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('explains a command in two ways', () => {
    expect(parley(['help', 'translate']).out).toBe(parley(['translate', '--help']).out);
  });

  it.skipIf(process.platform === 'win32')('treats a closed pipe as success', () => {
    const { stderr } = spawnSync('sh', ['-c', '"$0" "$1" translate --list | true', process.execPath, BIN], { encoding: 'utf8' });
    expect(stderr).toBe('');
  });

  it.skipIf(!existsSync('/dev/full'))('says that its output could not be written', () => {
    const { status, stderr } = spawnSync('sh', ['-c', '"$0" "$1" translate --list > /dev/full', process.execPath, BIN], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^Error: the output could not be written: its disk is full \(ENOSPC\)\n/)]);
  });

  it.each([
    [['audit', 'verify', '--file', '/nowhere', '--json'], 1],
    [['audit', 'nope', '--json'], 2],
    [['push', 'nope', '--json'], 2],
    [['push', 'ls', '--url', 'http://127.0.0.1:9', '--json'], 3],
    [['keys', 'revoke', '--json'], 2],
    [['keys', 'revoke', 'nobody', '--json'], 1],
  ])('tells errors as JSON where JSON was asked for: %j', (args, code) => {
    const ran = parley(args);
    expect([ran.code, ran.err, JSON.parse(ran.out)]).toEqual([
      code,
      '',
      { error: expect.objectContaining({ message: expect.any(String) }) },
    ]);
  });

  it('prints errors of serving commands on standard error', () => {
    const ran = parley(['serve', '--nope', '--json']);
    expect([ran.code, ran.out, ran.err]).toEqual([2, '', expect.stringContaining('no flag --nope')]);
  });

  it('refuses an unknown command with exit 2 and names the known ones', () => {
    const { code, out, err } = parley(['translte']);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).toMatch(/no command translte[\s\S]*translate/);
  });
});
