import type { Word } from './words.ts';

/** Quotes a word for all three shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The key of a table. Shells do not accept an empty one. */
function key(path: string): string {
  return quoted(path === '' ? '/' : `/ ${path}`);
}

/** The lists of subcommands and flags, as arrays of bash or zsh. */
function tables(words: readonly Word[], assign: (at: string, value: string) => string): string {
  const rows = words.flatMap(({ path, next, flags }) => {
    const all = flags.flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]);
    return [
      `_parley_next${assign(key(path), quoted(next.map(({ name }) => name).join(' ')))}`,
      `_parley_flags${assign(key(path), quoted(all.join(' ')))}`,
    ];
  });
  return rows.join('\n');
}

function values(words: readonly Word[]): string {
  const known = new Map(
    words.flatMap(({ flags }) => flags.filter((flag) => flag.values.length > 0).map((flag) => [`--${flag.name}`, flag.values.join(' ')])),
  );
  return [...known].map(([flag, list]) => `    ${flag}) list=${quoted(list)} ;;`).join('\n');
}

/** The completion script for bash. */
export function bash(words: readonly Word[]): string {
  return `# parley completion for bash: source <(parley completion bash)
declare -gA _parley_next _parley_flags
${tables(words, (at, value) => `[${at}]=${value}`)}

_parley() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" list='' line='/' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " \${_parley_next[$line]} " in *" $word "*) line="$line $word" ;; esac
  done
  case "$prev" in
${values(words)}
    --file-part|--data-part|--config|--ca|--cert|--cert-key|--dir|--jwks) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  if [ -z "$list" ]; then
    case "$cur" in -*) list="\${_parley_flags[$line]}" ;; *) list="\${_parley_next[$line]}" ;; esac
  fi
  COMPREPLY=($(compgen -W "$list" -- "$cur"))
}
complete -o default -F _parley parley
`;
}

/** The completion script for zsh. */
export function zsh(words: readonly Word[]): string {
  return `#compdef parley
# parley completion for zsh: source <(parley completion zsh)
typeset -gA _parley_next _parley_flags
${tables(words, (at, value) => `+=(${at} ${value})`)}

_parley() {
  local cur="\${words[CURRENT]}" prev="\${words[CURRENT-1]}" list='' line='/' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case " \${_parley_next[$line]} " in *" $word "*) line="$line $word" ;; esac
  done
  case "$prev" in
${values(words)}
    --file-part|--data-part|--config|--ca|--cert|--cert-key|--dir|--jwks) _files; return ;;
  esac
  if [[ -z "$list" ]]; then
    if [[ "$cur" == -* ]]; then list="\${_parley_flags[$line]}"; else list="\${_parley_next[$line]}"; fi
  fi
  compadd -- \${(z)list}
}
compdef _parley parley
`;
}

/** The completion script for fish, which also shows what each word does. */
export function fish(words: readonly Word[]): string {
  const lines = words.flatMap(({ path, next, flags }) => {
    const when = `-n "test (__parley_path) = ${quoted(path)}"`;
    return [
      ...next.map(({ name, doc }) => `complete -c parley -f ${when} -a ${quoted(name)} -d ${quoted(doc)}`),
      ...flags.map(({ name, short, doc, values: list }) => {
        const choices = list.length === 0 ? '' : ` -x -a ${quoted(list.join(' '))}`;
        return `complete -c parley ${when} -l ${quoted(name)}${short === undefined ? '' : ` -s ${short}`} -d ${quoted(doc)}${choices}`;
      }),
    ];
  });
  const paths = words.map(({ path }) => path).filter((path) => path !== '');
  return `# parley completion for fish: parley completion fish | source
set -g __parley_paths ${paths.map(quoted).join(' ')}
function __parley_path
  set -l path ''
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; and continue
    set -l longer (string trim "$path $word")
    contains -- $longer $__parley_paths; and set path $longer
  end
  echo "$path"
end
${lines.join('\n')}
`;
}
