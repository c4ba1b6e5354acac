import { ConfigError } from '#server';
import { placeOf, urlProblem } from '../../engine/adapters/postgres.ts';
import type { CopyResult } from '../../server/adapters/store-copy.ts';
import { copyStore, openCopySource } from '../../server/adapters/store-copy.ts';
import { CliError } from '../command.ts';
import { counted } from '../output/counted.ts';
import { asCliError, progressLine, untilInterrupted } from './folder.ts';

/** `parley store copy FROM TO`. */
export async function copy(
  [from, to = process.env['PARLEY_STORE'] || undefined, ...more]: readonly string[],
  { json, blobs }: { readonly json: boolean; readonly blobs: string | undefined },
): Promise<number> {
  if (more.length > 0) throw wrongCall(`${more[0]}: a copy has one source and one database`);
  const folder = sourceIn(from);
  const url = databaseIn(to);
  const line = progressLine();
  try {
    const result = await untilInterrupted(async (signal) => {
      const source = openCopySource(folder);
      try {
        const words = { copy: 'copied', check: 'compared' } as const;
        return await copyStore(source, url, {
          ...{ signal, blobs },
          onProgress: (phase, done, total) => line.show(`${done} of ${counted(total, 'task')} ${words[phase]}`),
        });
      } finally {
        await source.close();
      }
    }, 'interrupted; run the command again to continue').finally(line.end);
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : textOf(result, url));
    if (result.damaged.length > 0) throw damageIn(result);
    return 0;
  } catch (thrown) {
    throw asCliError(thrown);
  }
}

function sourceIn(from: string | undefined): string {
  if (from === undefined) throw wrongCall('which store?');
  if (/^postgres(ql)?:/.test(from)) throw wrongCall(`${from.split('@').at(-1)}: tasks can be copied to Postgres, not from it`);
  const [, place] = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(from) ?? [];
  if (place === undefined) throw wrongCall(`${from}: the source must be sqlite:DIR, the data folder of a node or a backup`);
  return place;
}

function databaseIn(to: string | undefined): string {
  if (to === undefined) throw wrongCall('to which database?');
  const problem = urlProblem(to);
  if (problem !== undefined) throw wrongCall(problem);
  return to;
}

function textOf({ tasks, entries, resumed, checked, blobs, pushConfigs, sends, names }: CopyResult, url: string): string {
  const what = [
    counted(entries, 'log entry', 'log entries'),
    counted(blobs, 'file'),
    counted(pushConfigs, 'push config'),
    counted(sends, 'record of a send', 'records of sends'),
    counted(names, 'name of a conversation', 'names of conversations'),
  ].join(', ');
  const checks = `${counted(checked.tasks, 'task')} with ${counted(checked.entries, 'log entry', 'log entries')}`;
  return `${placeOf(url)}: ${counted(tasks, 'task')}${resumed ? ', continued from an earlier copy; this time' : ' with'} ${what}.
${checks} ${checked.tasks === 1 ? 'is' : 'are'} equal on both sides.
Serve them with: parley serve AGENT --store postgres://…
`;
}

function damageIn({ damaged }: CopyResult): ConfigError {
  const named = damaged.map(({ task, why }) => `${task} (${why})`).join('; ');
  return new ConfigError(`the copy is complete, except for what is damaged in the source: ${named}`);
}

function wrongCall(words: string): CliError {
  return new CliError(words, { hint: 'try: parley store copy sqlite:./data postgres://parley@localhost/parley', exit: 2 });
}
