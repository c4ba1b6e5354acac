import type { Environment } from '../process/environment.ts';

/**
 * Git for our own use in a folder that an agent can write to. A repository's configuration can name programs: hooks, a file system monitor,
 * filters, diff and merge drivers, an ssh command, remote helpers. None of them may run, and no configuration of the user is needed.
 */
export const SAFE_GIT: readonly string[] = [
  'git',
  ...Object.entries({
    'core.fsmonitor': 'false',
    'core.hooksPath': '/dev/null',
    'core.sshCommand': 'false',
    'core.gitProxy': 'false',
    'core.askPass': 'false',
    'core.editor': 'false',
    'core.pager': 'cat',
    'core.attributesFile': '/dev/null',
    'core.alternateRefsCommand': 'false',
    'core.quotePath': 'false',
    'diff.external': '',
    'credential.helper': '',
    'gpg.program': 'false',
    'gpg.ssh.program': 'false',
    'gpg.x509.program': 'false',
    'gc.auto': '0',
    'maintenance.auto': 'false',
    'commit.gpgSign': 'false',
    'submodule.recurse': 'false',
    'protocol.allow': 'never',
    // Git refuses repositories of other users because of the programs above.
    'safe.directory': '*',
  }).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
  '--no-optional-locks',
];

/** Without the configuration of the user and the system, prompts, and objects that are fetched when needed. */
export const SAFE_GIT_ENV: Environment & Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_OPTIONAL_LOCKS: '0',
};

/**
 * Variables that switch off the filter and merge drivers of a repository, from the output of `git config --get-regexp --name-only`. Not
 * options: `-c` ends a key at its first `=`, which the name of a driver can contain.
 */
export function withoutDrivers(names: string): Readonly<Record<string, string>> {
  const drivers = new Set(
    names
      .split('\n')
      .map((name) => /^((?:filter|merge|diff)\..+)\.[a-z]+$/is.exec(name)?.[1])
      .filter((driver) => driver !== undefined),
  );
  const settings = [...drivers].flatMap((driver) =>
    (driver.startsWith('filter.') ? FILTER_OFF : DRIVER_OFF).map(([key, value]) => [`${driver}.${key}`, value] as const),
  );
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', `${settings.length}`],
    ...settings.flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ]);
}

const FILTER_OFF = [
  ['clean', ''],
  ['smudge', ''],
  ['process', ''],
  ['required', 'false'],
] as const;
const DRIVER_OFF = [
  ['driver', 'false'],
  ['command', ''],
  ['textconv', ''],
] as const;
