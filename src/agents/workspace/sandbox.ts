import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, extname, join } from 'node:path';
import { isInside } from './folders.ts';

/**
 * The levels of confinement. `plain`: arguments as a list, its own environment and session, killed with
 * everything it started. `limits`: also limits of memory, processor time, file size and open files.
 * `bubblewrap`: also a file system in which only the working folder is writable, a home folder with
 * only what the program needs, and a separate process namespace.
 */
export type SandboxLevel = 'plain' | 'limits' | 'bubblewrap';

/** Confines programs to one level. */
export interface Sandbox {
  readonly level: SandboxLevel;
  /** The command that runs `argv` in the sandbox. */
  wrap(argv: readonly string[], room: Room): readonly string[];
}

/** What a program may see and change. */
export interface Room {
  /** The working folder, which is writable. */
  readonly folder: string;
  /** Further writable folders. */
  readonly writable?: readonly string[];
  /** The program's files in the home folder, relative to it. */
  readonly homePaths?: readonly string[];
  /** Hidden files of the working folder, relative to it. */
  readonly masked?: readonly string[];
  /** Off: no network. */
  readonly network?: boolean;
}

/** Resource limits of a program (`ulimit`). */
export interface Limits {
  /** Address space in bytes. Default 512 GiB. */
  readonly memoryBytesMax: number;
  /** Processor time in seconds. Default 4 hours. */
  readonly cpuSecondsMax: number;
  /** Largest file that it may write. Default 16 GiB. */
  readonly fileBytesMax: number;
  /** Default 65,536. */
  readonly openFilesMax: number;
  /**
   * Maximum number of threads of the user, because the system can't count those of one program. Default
   * 16,384. Has no effect for root.
   */
  readonly processesMax: number;
}

const GIB = 1024 ** 3;
/** Address space, not memory: Node and Go reserve tens of gigabytes that they never touch. */
const LIMITS: Limits = {
  memoryBytesMax: 512 * GIB,
  cpuSecondsMax: 4 * 3600,
  fileBytesMax: 16 * GIB,
  openFilesMax: 65_536,
  processesMax: 16_384,
};

/**
 * A sandbox of the given level. Does not check whether the level works here; see `strongestLevel`. No program in the sandbox sees the
 * `hidden` folders and files, for example the node's token and data.
 */
export function createSandbox(level: SandboxLevel, limits: Partial<Limits> = {}, hidden: readonly string[] = []): Sandbox {
  const limited = level !== 'plain' && has('prlimit') ? bounds({ ...LIMITS, ...limits }) : [];
  return {
    level,
    wrap: (argv, room) => [...limited, ...(level === 'bubblewrap' ? bubblewrapped(room, hidden) : []), ...argv],
  };
}

/** The command that sets the limits. None may exceed our own. */
function bounds({ memoryBytesMax, cpuSecondsMax, fileBytesMax, openFilesMax, processesMax }: Limits): readonly string[] {
  const own = ownLimits();
  const bound = (flag: string, name: string, wanted: number): string => `--${flag}=${Math.min(wanted, own.get(name) ?? wanted)}`;
  return [
    'prlimit',
    bound('as', 'Max address space', memoryBytesMax),
    bound('cpu', 'Max cpu time', cpuSecondsMax),
    bound('fsize', 'Max file size', fileBytesMax),
    bound('nofile', 'Max open files', openFilesMax),
    bound('nproc', 'Max processes', processesMax),
    '--core=0',
    '--',
  ];
}

/** Our own maximum, which no child can exceed. */
function ownLimits(): ReadonlyMap<string, number> {
  const lines = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8').split('\n') : [];
  return new Map(
    lines.map((line) => [line.slice(0, 26).trim(), Number(line.slice(47, 68).trim())] as const).filter(([, hard]) => Number.isFinite(hard)),
  );
}

/**
 * The strongest level that works here. Bubblewrap may be installed but not permitted, as in many
 * containers.
 */
export function strongestLevel(): SandboxLevel {
  strongest ??= findStrongest();
  return strongest;
}

let strongest: SandboxLevel | undefined;

function findStrongest(): SandboxLevel {
  if (process.platform !== 'linux') return 'plain';
  const folder = process.cwd();
  if (has('bwrap') && tries(createSandbox('bubblewrap').wrap(['true'], { folder }))) return 'bubblewrap';
  return has('prlimit') && tries(createSandbox('limits').wrap(['true'], { folder })) ? 'limits' : 'plain';
}

const FRAME = [
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/run'],
  ...['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve'],
  ...['--unshare-pid', '--unshare-ipc', '--die-with-parent', '--new-session'],
];

/** Folders in which users install programs: readable and executable, not writable. */
const INSTALLED = [
  '.nvm',
  '.volta',
  '.bun/bin',
  '.deno/bin',
  '.local/bin',
  '.local/share/pnpm',
  '.local/lib',
  '.npm-global',
  '.cargo/bin',
  'go/bin',
];

/**
 * The command that confines a program: everything read-only, the home folder empty but for what the
 * program needs, the working folder writable.
 */
function bubblewrapped(
  { folder, writable = [], homePaths = [], masked = [], network = true }: Room,
  hidden: readonly string[],
): readonly string[] {
  const home = homedir();
  const isHomeHidden = home !== '/' && existsSync(home);
  const at = (path: string): string => join(home, path);
  if (isHomeHidden) makeFolders(homePaths.map(at));
  return [
    'bwrap',
    ...FRAME,
    ...(isHomeHidden ? ['--tmpfs', home] : []),
    ...(isHomeHidden ? [...INSTALLED.map(at), ...installedHere(home)].flatMap((path) => ['--ro-bind-try', path, path]) : []),
    ...(isHomeHidden ? homePaths.flatMap((path) => ['--bind-try', at(path), at(path)]) : []),
    ...(tmpdir() === '/tmp' ? [] : ['--bind-try', tmpdir(), tmpdir()]),
    // Before the folders of the run, which may be inside one of these, and after them, for those that are inside the folder.
    ...hidden.flatMap((path) => mask(path)),
    ...[folder, ...writable].flatMap((path) => ['--bind', path, path]),
    ...hidden.filter((path) => isInside(path, folder) && path !== folder).flatMap((path) => mask(path)),
    ...[join(folder, '.git'), ...writable].flatMap(withoutGitPrograms),
    ...masked.flatMap((path) => mask(join(folder, path))),
    ...(network ? [] : ['--unshare-net']),
    ...['--chdir', folder, '--'],
  ];
}

/**
 * A program that can write hooks or git's configuration gets its code run by the next person who uses git there, outside of the sandbox.
 * Both stay readable.
 */
function withoutGitPrograms(repository: string): readonly string[] {
  if (!existsSync(join(repository, 'HEAD'))) return [];
  const hooks = join(repository, 'hooks');
  if (!existsSync(hooks)) mkdirSync(hooks); // one that is missing could be made by the program
  const kept = ['hooks', 'config', 'config.worktree'].map((name) => join(repository, name)).filter((path) => existsSync(path));
  // Bound to its own place, the repository can't be moved away to make room for another.
  return ['--bind', repository, repository, ...kept.flatMap((path) => ['--ro-bind', path, path])];
}

/**
 * A program's files in the home folder survive the run only if they exist when it is bound. On the
 * first run they do not.
 */
function makeFolders(paths: readonly string[]): void {
  for (const path of paths) {
    if (!existsSync(path) && extname(path) === '') mkdirSync(path, { recursive: true, mode: 0o700 });
  }
}

/** Programs in unusual folders of the search path, with the packages behind them, and our own Node. */
function installedHere(home: string): readonly string[] {
  const hidden = [home, '/tmp'];
  const paths = [...(process.env['PATH'] ?? '').split(delimiter).flatMap(withPackages), process.execPath];
  return paths
    .filter((path) => hidden.some((place) => isInside(path, place) && path !== place) && existsSync(path))
    .map((path) => realpathSync(path));
}

/** npm links programs from `node_modules/.bin` to the packages beside it. */
function withPackages(folder: string): readonly string[] {
  return folder.endsWith('/node_modules/.bin') ? [folder, dirname(folder)] : [folder];
}

/**
 * Hides a folder with an empty folder, and a file with a harmless file: programs that find no JSON in a
 * `.json` file give up.
 */
function mask(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isDirectory()) return ['--tmpfs', path];
  blanks ??= makeBlanks();
  return ['--ro-bind', /\.jsonc?$/.test(path) ? blanks.json : blanks.empty, path];
}

interface Blanks {
  readonly empty: string;
  readonly json: string;
}

let blanks: Blanks | undefined;

/** Not /dev/null: a device can't be opened where it is put. */
function makeBlanks(): Blanks {
  const folder = mkdtempSync(join(tmpdir(), 'parley-blank-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const made = { empty: join(folder, 'empty'), json: join(folder, 'empty.json') };
  writeFileSync(made.empty, '', { mode: 0o444 });
  writeFileSync(made.json, '{}\n', { mode: 0o444 });
  return made;
}

function has(program: string): boolean {
  return (process.env['PATH'] ?? '/usr/bin:/bin').split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, program)));
}

/** Whether a command succeeds. */
function tries([file = '', ...args]: readonly string[]): boolean {
  try {
    execFileSync(file, args, { stdio: 'ignore', timeout: 5000 });
    return true;
  } catch {
    return false;
  }
}
