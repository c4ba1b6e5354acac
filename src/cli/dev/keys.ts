import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** What each letter does. */
export type KeyActions = Readonly<Record<string, { readonly doc: string; readonly act: () => void }>>;

/** Reads letters, each with Enter, from a terminal. Returns what stops it. Not in raw mode: Ctrl-C and Ctrl-Z stay as they are. */
export function readKeys(actions: KeyActions, say: (line: string) => void): () => void {
  if (process.stdin.isTTY !== true) return () => undefined;
  const lines = createInterface({ input: process.stdin, terminal: false });
  lines.on('line', (line) => {
    const action = actions[line.trim().toLowerCase()];
    if (action !== undefined) action.act();
    else say(keysText(actions));
  });
  return () => lines.close();
}

/** One line that lists the keys. */
export function keysText(actions: KeyActions): string {
  return Object.entries(actions)
    .map(([key, { doc }]) => `${key} + Enter ${doc}`)
    .join(', ');
}

/** Opens a page in the user's browser. A machine without one prints the address anyway. */
export function openPage(url: string): void {
  const [program, ...args] =
    process.platform === 'darwin' ? ['open', url] : process.platform === 'win32' ? ['cmd', '/c', 'start', '', url] : ['xdg-open', url];
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  child.on('error', () => undefined); // there is no such program
  child.unref();
}
