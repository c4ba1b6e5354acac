/**
 * How a program tells options from other arguments. `double-dash`: `--` ends its options. `first-operand`: the first argument that is no
 * option ends them. `script`: with `-c`, the arguments after the script belong to the script, which the operator wrote. `runner`: it runs
 * another program, for which its own `--` ends nothing.
 */
export type OptionRule = 'double-dash' | 'first-operand' | 'script' | 'runner';

const DOUBLE_DASH = [
  ...[
    'basename',
    'cat',
    'cksum',
    'comm',
    'cp',
    'cut',
    'date',
    'df',
    'diff',
    'dirname',
    'du',
    'expand',
    'file',
    'fmt',
    'fold',
    'grep',
    'egrep',
  ],
  ...[
    'fgrep',
    'head',
    'iconv',
    'join',
    'ln',
    'ls',
    'md5sum',
    'mkdir',
    'mv',
    'nl',
    'od',
    'paste',
    'pr',
    'readlink',
    'realpath',
    'rev',
    'rg',
  ],
  ...['rm', 'rmdir', 'sha256sum', 'shuf', 'sort', 'split', 'stat', 'strings', 'tac', 'tail', 'tee', 'touch', 'tr', 'uniq', 'wc', 'zcat'],
] as const;

const RUNNERS = [
  ...['env', 'nice', 'ionice', 'nohup', 'timeout', 'stdbuf', 'setsid', 'taskset', 'chrt', 'time', 'strace', 'xargs', 'parallel', 'busybox'],
  ...['sudo', 'doas', 'su', 'runuser', 'setpriv', 'unshare', 'nsenter', 'chroot', 'bwrap', 'firejail', 'systemd-run', 'ssh', 'script'],
  ...['npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'bun', 'bunx', 'uv', 'uvx', 'pipx', 'poetry', 'make', 'docker', 'podman', 'kubectl'],
] as const;

/** The rules by program. Of any other program nothing is known: its arguments from callers must not begin with a dash. */
export const OPTION_RULES: ReadonlyMap<string, OptionRule> = new Map<string, OptionRule>([
  ...DOUBLE_DASH.map((name): [string, OptionRule] => [name, 'double-dash']),
  ['printf', 'first-operand'],
  ...RUNNERS.map((name): [string, OptionRule] => [name, 'runner']),
  ...['sh', 'bash', 'dash', 'ash', 'ksh', 'zsh'].map((name): [string, OptionRule] => [name, 'script']),
]);

export interface FilledCommand {
  /** The program and its arguments as the operator wrote them. */
  readonly written: readonly string[];
  /** The same with the placeholders replaced. */
  readonly filled: readonly string[];
}

const FROM_CALLER = /^\{(?:prompt|contextId)\}/;

/**
 * The command line in which no argument of the caller can be an option, if need be with `--` before it. Undefined if there is none: the
 * run must be refused.
 */
export function withoutInjectedOptions({ written, filled }: FilledCommand): readonly string[] | undefined {
  const at = filled.findIndex((argument, index) => FROM_CALLER.test(written[index] ?? '') && argument.startsWith('-'));
  if (at === -1) return filled;
  const before = written.slice(1, at);
  const program = (written[0] ?? '').replace(/^.*[/\\]/, '').replace(/\.(?:exe|cmd)$/i, '');
  const rule = OPTION_RULES.get(program);
  if (before.includes('--') && rule !== 'runner') return filled;
  switch (rule) {
    case 'double-dash':
      // After `--` an option of the operator would be none either. And an option before it could take the `--` for its value.
      return written.slice(at + 1).some((argument) => argument.startsWith('-')) || mayTakeValue(before.at(-1))
        ? undefined
        : filled.toSpliced(at, 0, '--');
    case 'first-operand':
      return before.some((argument) => !argument.startsWith('-')) ? filled : undefined;
    case 'script': {
      const script = before.indexOf('-c');
      return script !== -1 && script < before.length - 1 ? filled : undefined;
    }
    case 'runner':
    case undefined:
      return undefined;
  }
}

/** Whether the next argument could be the value of this one, as in `grep -e PATTERN`. */
function mayTakeValue(argument = ''): boolean {
  return argument.startsWith('-') && !/^--[^=]+=/.test(argument);
}
