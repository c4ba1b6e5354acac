import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../process/environment.ts';
import { isInside } from './folders.ts';
import { SAFE_GIT, SAFE_GIT_ENV, withoutDrivers } from './safe-git.ts';

/**
 * Runs a command in the sandbox, like the agent's own: a repository's configuration can name programs.
 */
export type Run = (argv: readonly string[], options: GitRunOptions) => Promise<string>;

/** Where and how a command runs. */
export interface GitRunOptions {
  readonly folder: string;
  readonly env?: Environment;
  /** Writable folders besides the working folder. */
  readonly writable?: readonly string[];
}

/** One file that differs from the baseline. */
export interface FileChange {
  readonly path: string;
  readonly change: 'added' | 'deleted' | 'modified';
  /** A unified diff. For a binary file, only a note that it is one. */
  readonly patch: string;
}

/** The recorded state of a folder, to compare with later. */
export interface Baseline {
  /** All changes since then, by anybody, committed or not, except ignored files. */
  changes(): Promise<readonly FileChange[]>;
  close(): Promise<void>;
}

/** Maximum number of changed files that are reported. */
const FILES_MAX = 200;
/** Longer diffs are cut. */
const PATCH_BYTES_MAX = 256 * 1024;

/**
 * Records the state of the folder with git, without a trace in it: index and objects are written
 * elsewhere. So is the configuration: a filter that the repository's own configuration names does
 * not run. A folder that is no repository is treated as one if it is small. Undefined: it is too
 * large, or git is missing.
 */
export async function baselineOf(folder: string, run: Run): Promise<Baseline | undefined> {
  const found = await repositoryAt(folder, run);
  if (found === undefined && !(await isSmall(folder))) return undefined;
  const aside = await mkdtemp(join(tmpdir(), 'parley-git-'));
  const index = join(aside, 'index');
  const env: Environment & Readonly<Record<string, string>> = {
    ...SAFE_GIT_ENV,
    ...{ GIT_INDEX_FILE: index, GIT_DIR: join(aside, 'repository'), GIT_WORK_TREE: found?.top ?? folder },
    ...(found === undefined ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(found.common, 'objects') }),
  };
  const excluded = found === undefined ? [] : ['-c', `core.excludesFile=${join(found.common, 'info/exclude')}`];
  const git = (argv: readonly string[]): Promise<string> => run([...SAFE_GIT, ...excluded, ...argv], { folder, env, writable: [aside] });
  const tree = async (): Promise<string> => {
    // With the real index, git does not read unchanged files.
    if (found !== undefined) await copyFile(join(found.dir, 'index'), index).catch(() => undefined);
    await git(['add', '--all', '--', '.', ...(found === undefined ? [...PASSED_OVER].map((name) => `:(exclude,glob)**/${name}/**`) : [])]);
    return (await git(['write-tree'])).trim();
  };
  const close = (): Promise<void> => rm(aside, { recursive: true, force: true });
  try {
    await git(['init', '-q', `--object-format=${found?.format ?? 'sha1'}`]);
    const before = await tree();
    return {
      changes: async () =>
        changesIn(
          await git(['diff-tree', '-r', '-p', '--no-renames', '--no-color', '--no-ext-diff', '--no-textconv', before, await tree()]),
        ),
      close,
    };
  } catch {
    await close();
    return undefined;
  }
}

interface Repository {
  /** The top of its files. */
  readonly top: string;
  readonly dir: string;
  /** The `.git` folder that all worktrees of the repository share. */
  readonly common: string;
  readonly format: string;
}

async function repositoryAt(folder: string, run: Run): Promise<Repository | undefined> {
  const asked = ['--path-format=absolute', '--show-toplevel', '--absolute-git-dir', '--git-common-dir', '--show-object-format'];
  const [top, dir, common, format] = (await plainGit(run, folder, ['rev-parse', ...asked]).catch(() => '')).trim().split('\n');
  if (top === undefined || dir === undefined || common === undefined || format === undefined || !isInside(folder, top)) return undefined;
  return { top, dir, common, format };
}

/** Git in a repository as it is, for commands that run nothing and change nothing. */
function plainGit(run: Run, folder: string, argv: readonly string[]): Promise<string> {
  return run([...SAFE_GIT, ...argv], { folder, env: SAFE_GIT_ENV });
}

const PASSED_OVER: ReadonlySet<string> = new Set(['node_modules', '.venv', '.cache']);
const SMALL_FILES = 5000;
const SMALL_BYTES = 64 * 1024 * 1024;

/** Whether the folder is small enough to be recorded although it is not a repository. */
async function isSmall(folder: string): Promise<boolean> {
  let [files, bytes] = [0, 0];
  for (const folders = [folder]; folders.length > 0; ) {
    for (const entry of await readdir(folders.pop() ?? '', { withFileTypes: true }).catch(() => [])) {
      const path = join(entry.parentPath, entry.name);
      files += 1;
      if (entry.isFile()) bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
      if (entry.isDirectory() && !PASSED_OVER.has(entry.name)) folders.push(path);
      if (files > SMALL_FILES || bytes > SMALL_BYTES) return false;
    }
  }
  return true;
}

/** Splits a diff into files. At most 200 are reported, and long patches are cut. */
function changesIn(diff: string): readonly FileChange[] {
  return diff
    .split(/^(?=diff --git )/m)
    .filter((patch) => patch.startsWith('diff --git '))
    .slice(0, FILES_MAX)
    .map((patch) => {
      const path = /^\+\+\+ b\/(.+)$/m.exec(patch)?.[1] ?? /^--- a\/(.+)$/m.exec(patch)?.[1] ?? namedIn(patch);
      const change = /^new file mode/m.test(patch) ? 'added' : /^deleted file mode/m.test(patch) ? 'deleted' : 'modified';
      const shown = patch.length <= PATCH_BYTES_MAX ? patch : `${patch.slice(0, PATCH_BYTES_MAX).toWellFormed()}\n[cut]\n`;
      return { path: path.replace(/\t$/, ''), change, patch: shown };
    });
}

/** Binary files and empty ones have no `+++` line: `diff --git a/X b/X`, twice the same. */
function namedIn(patch: string): string {
  const line = patch.slice('diff --git a/'.length, patch.indexOf('\n'));
  return line.slice(0, (line.length - ' b/'.length) / 2);
}

/** A git worktree that was created for one task. */
export interface Worktree {
  readonly path: string;
  readonly branch: string;
  /** The `.git` folder that all worktrees of the repository share. */
  readonly common: string;
}

/**
 * A separate worktree for one task, on its own branch. It is kept when the task is done, because it
 * holds the result.
 */
export async function makeWorktree(folder: string, name: string, { run, parent }: WorktreeOptions): Promise<Worktree> {
  const path = join(parent, name);
  const branch = `parley/${name}`;
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const common = (await plainGit(run, folder, ['rev-parse', '--path-format=absolute', '--git-common-dir'])).trim();
  const writable = [parent, common];
  const exists = await plainGit(run, folder, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`]).catch(() => '');
  // A checkout would run the filters that the repository's configuration names.
  const drivers = await plainGit(run, folder, ['config', '--name-only', '--get-regexp', '^(filter|merge|diff)\\.']).catch(() => '');
  const add = exists === '' ? ['worktree', 'add', '-b', branch, path] : ['worktree', 'add', '--force', path, branch];
  if (!existsSync(path)) {
    try {
      await run([...SAFE_GIT, ...add], { folder, writable, env: { ...SAFE_GIT_ENV, ...withoutDrivers(drivers) } });
    } catch (thrown) {
      // Git makes the branch before the folder.
      if (exists === '') await plainGit(run, folder, ['branch', '-D', branch]).catch(() => '');
      throw thrown;
    }
  }
  return { path: await realpath(path), branch, common };
}

interface WorktreeOptions {
  readonly run: Run;
  readonly parent: string;
}

/** Git's folder for the working folder, if it is elsewhere. */
export async function gitFolders(folder: string, run: Run): Promise<readonly string[]> {
  const out = await plainGit(run, folder, ['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir']).catch(() => '');
  return [...new Set(out.split('\n').filter((path) => path !== '' && !isInside(path, folder)))];
}
