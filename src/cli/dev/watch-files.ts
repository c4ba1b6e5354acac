import type { FSWatcher } from 'node:fs';
import { readFileSync, watch } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Watches files by their content. */
export interface FileWatcher {
  /** Watches one more file. */
  add(path: string): void;
  /** Until the next call of `onChange`, a change of any file in the watched folders counts: what is missing may be a new file. */
  acceptAny(): void;
  close(): void;
}

const CODE = /\.(?:[cm]?[jt]s|json|ya?ml)$/;

/** Editors write a file in several steps, and often more than one file at a time. */
const SETTLE_MS = 40;

/**
 * Calls `onChange` with the files whose content changed. It watches folders, because many editors replace a file by a new one, and a
 * watcher of the old file would see nothing more.
 */
export function watchFiles(onChange: (paths: readonly string[]) => void): FileWatcher {
  const contents = new Map<string, string | undefined>();
  const folders = new Map<string, FSWatcher>();
  let takesAny = false;
  let timer: NodeJS.Timeout | undefined;
  const touched = new Set<string>();
  const settle = (): void => {
    const changed = [...touched].filter((path) => {
      const now = contentOf(path);
      if (contents.has(path) ? contents.get(path) === now : !takesAny) return false;
      if (contents.has(path)) contents.set(path, now);
      return now !== undefined;
    });
    touched.clear();
    if (changed.length === 0) return;
    takesAny = false;
    onChange(changed);
  };
  const onEvent = (folder: string, name: string | null): void => {
    const named = name === null ? [...contents.keys()].filter((path) => dirname(path) === folder) : [resolve(folder, name)];
    for (const path of named) if (contents.has(path) || (takesAny && CODE.test(path))) touched.add(path);
    if (touched.size === 0) return;
    clearTimeout(timer);
    timer = setTimeout(settle, SETTLE_MS);
  };
  return {
    add: (path) => {
      const folder = dirname(path);
      if (!contents.has(path)) contents.set(path, contentOf(path));
      if (folders.has(folder)) return;
      const watcher = watch(folder, { persistent: false }, (_, name) => onEvent(folder, name));
      watcher.on('error', () => watcher.close()); // the folder was removed
      folders.set(folder, watcher);
    },
    acceptAny: () => {
      takesAny = true;
    },
    close: () => {
      clearTimeout(timer);
      for (const watcher of folders.values()) watcher.close();
    },
  };
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // between two steps of an editor
  }
}
