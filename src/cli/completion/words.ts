import type { Command, Entry } from '../command.ts';
import type { Flag } from '../flags/spec.ts';
import { allFlags } from '../flags/spec.ts';

/** The words that can follow others: `task push-config` → `create`, …; `send` → `--file-part`, … */
export interface Word {
  /** The words before, separated by spaces. Empty for `parley` itself. */
  readonly path: string;
  readonly next: readonly { readonly name: string; readonly doc: string }[];
  readonly flags: readonly { readonly name: string; readonly short?: string; readonly doc: string; readonly values: readonly string[] }[];
}

/** All words that the shells can complete, over all commands. */
export async function wordsOf(entries: readonly Entry[]): Promise<readonly Word[]> {
  const top: Word = {
    path: '',
    next: [...entries.map(({ name, summary }) => ({ name, doc: summary })), { name: 'help', doc: "Show a command's help" }],
    flags: [
      { name: 'help', doc: 'Show the help', values: [] },
      { name: 'version', doc: 'Print the version', values: [] },
    ],
  };
  const commands = await Promise.all(entries.map(async (entry) => below(await entry.load(), entry.name)));
  return [top, ...commands.flat()];
}

function below(command: Command, path: string): readonly Word[] {
  const children = command.below ?? [];
  const next = children.map((child) => ({ name: child.name, doc: child.spec?.summary ?? '' }));
  return [{ path, next, flags: flagsOf(command) }, ...children.flatMap((child) => below(child, `${path} ${child.name}`))];
}

/** The flags of a command's spec, or else those in its help text. */
function flagsOf({ spec, help }: Command): Word['flags'] {
  if (spec !== undefined) return allFlags(spec).map(ofFlag);
  const named = [...help.matchAll(/^ +(?:-\w, )?--([a-z0-9-]+)(?: [^ ]+)? {2,}(.*)$/gm)];
  return named.map(([, name = '', doc = '']) => ({ name, doc, values: [] }));
}

function ofFlag({ name, short, doc, oneOf }: Flag): Word['flags'][number] {
  return { name, ...(short === undefined ? {} : { short }), doc, values: oneOf ?? [] };
}
