import { createInterface } from 'node:readline/promises';
import type { Owner } from '#engine';
import type { AdminErased } from '#protocol';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { AUTH_FOLDER_FLAG, DATA_FLAG, JSON_FLAG, PRINCIPAL_FLAG, TENANT_FLAG } from './data/flags.ts';
import { asCliError, sizeText } from './data/folder.ts';
import { ownerOf, ownerText } from './data/owner.ts';
import { withPersonalData } from './data/person.ts';
import { helpFor } from './flags/help.ts';
import { parse, switchOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';

const SPEC: CommandSpec = {
  name: 'erase',
  summary: 'delete everything that a node has of one caller, also from its files.',
  args: [],
  usage: ['parley erase --principal P [--tenant T] [OPTIONS]'],
  details: `Works on a running node and on a data folder without one. Tasks of the caller that run are canceled first. Then its tasks, conversations, push
configs, undelivered webhooks, files and records of repeated sends are deleted, and the database is rewritten, so that its files hold none of it. Sends wait for
that; it takes a few seconds for each gigabyte. The audit log records who erased whose data, without content. Backups and the folders that coding
agents work in are not touched.`,
  flags: [
    PRINCIPAL_FLAG,
    TENANT_FLAG,
    { name: 'yes', short: 'y', kind: 'switch', doc: 'Do not ask for confirmation.' },
    { name: 'dry-run', kind: 'switch', doc: 'Only print what would be deleted.' },
    DATA_FLAG,
    AUTH_FOLDER_FLAG,
    JSON_FLAG,
  ],
  examples: ['parley erase --principal key:ann --dry-run'],
  exits: '0 done; 1 failed, not confirmed, or nothing is known of the caller; 2 wrong call; 3 the node did not answer.',
};

export const eraseCommand: Command = { name: 'erase', help: helpFor(SPEC), spec: SPEC, run };

/** Counts, asks and erases. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const owner = ownerOf(flags, 'erase');
  const [json, isDryRun, isConfirmed] = [switchOf(flags, 'json'), switchOf(flags, 'dry-run'), switchOf(flags, 'yes')];
  try {
    return await withPersonalData(flags, owner, async (data) => {
      const found = await data.count();
      if (isDryRun) return say(json, { ...owner, ...found, erased: false }, `${wordsFor(found)} of ${ownerText(owner)} would be deleted.`);
      if (!isConfirmed) await confirm(owner, found);
      const erased = await data.erase();
      const words = `${wordsFor(erased)} of ${ownerText(owner)}: deleted, also from the files. Backups still have them; delete those yourself.`;
      return say(json, { ...owner, ...erased, erased: true }, words);
    });
  } catch (thrown) {
    throw asCliError(thrown);
  }
}

function wordsFor({ tasks, unfinished, contexts, pushConfigs, directAnswers, bytes }: AdminErased): string {
  const running = unfinished === 0 ? '' : ` (${unfinished} unfinished)`;
  return `${tasks} tasks${running} in ${contexts} conversations, ${directAnswers} direct answers, ${pushConfigs} push configs, ${sizeText(bytes)}`;
}

/** Asks on the terminal. The name must be typed: it is the part that can be wrong. */
async function confirm(owner: Owner, found: AdminErased): Promise<void> {
  if (process.stdin.isTTY !== true)
    throw new CliError('nobody can confirm this here', { hint: 'use --yes, or --dry-run to see what would be deleted', exit: 2 });
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const question = `${wordsFor(found)} of ${ownerText(owner)} will be deleted for good.\nType ${owner.principal} to confirm: `;
    if ((await prompt.question(question)).trim() !== owner.principal) throw new CliError('not confirmed; nothing was deleted');
  } finally {
    prompt.close();
  }
}

function say(json: boolean, value: object, words: string): number {
  process.stdout.write(`${json ? JSON.stringify(value) : words}\n`);
  return 0;
}
