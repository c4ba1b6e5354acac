import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const BIN: string = fileURLToPath(new URL('../../bin/parley', import.meta.url));

/** Runs the real program, as a person would: on the Node that the tests run on, or on another. */
export function parley(
  args: readonly string[],
  input = '',
  node: string = process.execPath,
): { readonly code: number | null; readonly out: string; readonly err: string } {
  const { status, stdout, stderr } = spawnSync(node, [BIN, ...args], { input, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}
