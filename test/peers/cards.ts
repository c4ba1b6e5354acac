import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';

/** A client that can't read the card that others read. */
export interface CardReader {
  readonly title: string;
  /** Prints a JSON list of the schemes that the card at an address requires. Undefined: it could not be installed. */
  readonly command: ((url: string, form: string) => readonly string[]) | undefined;
  /** The form of the card that it reads (docs/cards.md). */
  readonly form: string;
}

/** Their client reads the card of a node of ours that requires credentials. */
export function describeCards({ title, command, form }: CardReader): void {
  suiteNeeding('its package', command !== undefined, `their client: ${title}, cards`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-peers-'));
    let node: Parley;
    beforeAll(async () => {
      node = await parleyServe({ args: ['echo', '--memory', '--require-auth', '--auth-folder', folder] });
    });
    afterAll(async () => {
      await node.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const read = async (asked: string): Promise<unknown> => {
      const [program = '', ...args] = command?.(node.url, asked) ?? [];
      return JSON.parse((await promisify(execFile)(program, args)).stdout);
    };
    it('can’t read the usual card: a fault of the peer', async () => {
      await expect(read('superset')).rejects.toThrow();
    });
    it(`reads the card with ?card=${form}, and what it requires`, async () => {
      expect(await read(form)).toEqual(expect.arrayContaining(['bearer']));
    });
  });
}
