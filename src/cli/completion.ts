import type { Command, Entry } from './command.ts';
import { CliError } from './command.ts';
import { bash, fish, zsh } from './completion/shells.ts';
import type { Word } from './completion/words.ts';
import { wordsOf } from './completion/words.ts';

const SHELLS: Readonly<Record<string, (words: readonly Word[]) => string>> = { bash, zsh, fish };

/** Built from the commands themselves, so that it offers exactly their flags. */
export function completionFor(entries: readonly Entry[]): Command {
  return {
    name: 'completion',
    help: `parley completion: print a completion script for a shell.

Usage: parley completion SHELL

SHELL is bash, zsh or fish. Add to your shell's start-up file:
  bash: source <(parley completion bash)
  zsh:  source <(parley completion zsh)
  fish: parley completion fish | source

Example:
  parley completion bash > ~/.local/share/bash-completion/completions/parley

Exit codes: 0 printed, 2 wrong call.
`,
    run: async (args) => {
      const [shell] = args.filter((word) => !word.startsWith('-'));
      const script = shell === undefined ? undefined : SHELLS[shell];
      if (script === undefined) {
        throw new CliError(shell === undefined ? 'the shell is missing' : `there is no completion for ${shell}`, {
          ...(shell === undefined ? {} : { meant: { word: shell, known: Object.keys(SHELLS) } }),
          hint: `one of: ${Object.keys(SHELLS).join(', ')}; example: parley completion bash`,
          exit: 2,
        });
      }
      process.stdout.write(script(await wordsOf(entries)));
      return 0;
    },
  };
}
