import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AdminExportedTask, AdminExportPage, Part } from '#protocol';
import { emptyAgain, makeFolder } from '../server/adapters/folders.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { AUTH_FOLDER_FLAG, DATA_FLAG, PRINCIPAL_FLAG, TENANT_FLAG } from './data/flags.ts';
import { asCliError } from './data/folder.ts';
import { ownerOf } from './data/owner.ts';
import { withPersonalData } from './data/person.ts';
import { helpFor } from './flags/help.ts';
import { parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';

const SPEC: CommandSpec = {
  name: 'export',
  summary: 'print everything that a node has of one caller, as JSON.',
  args: [],
  usage: ['parley export --principal P [--tenant T] [OPTIONS]'],
  details: `Works on a running node and on a data folder without one. Every task has its messages, artifacts and push configs (without secrets). Direct
answers, which belong to no task, follow at the end. Files are part of the JSON, in base64; with --dir they are files, and the JSON has their names.`,
  flags: [
    PRINCIPAL_FLAG,
    TENANT_FLAG,
    { name: 'lines', kind: 'switch', doc: 'Print JSON lines: one task or direct answer on each line.' },
    { name: 'dir', kind: 'text', value: 'DIR', doc: 'Write data.json, or data.jsonl, and the files to this new or empty folder.' },
    DATA_FLAG,
    AUTH_FOLDER_FLAG,
  ],
  examples: ['parley export --principal key:ann > ann.json'],
  exits: '0 done; 1 failed, or nothing is known of the caller; 2 wrong call; 3 the node did not answer.',
};

export const exportCommand: Command = { name: 'export', help: helpFor(SPEC), spec: SPEC, run };

/** Where the text of the export goes. */
type Write = (text: string) => void;

/** How a task is written. */
type Shown = (task: AdminExportedTask) => unknown;

/** Writes page by page: the data of one caller may be larger than the memory. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const owner = ownerOf(flags, 'export');
  const isLines = switchOf(flags, 'lines');
  const dir = textOf(flags, 'dir');
  try {
    return await withPersonalData(flags, owner, async (data) => {
      await data.count(); // throws if nothing is known of the caller
      const head = { principal: owner.principal, ...(owner.tenant === '' ? {} : { tenant: owner.tenant }), at: new Date().toISOString() };
      const writeTo = async (write: Write, shown: Shown): Promise<number> => {
        if (isLines) await writeLines(data.pages(), write, shown);
        else await writeDocument(data.pages(), write, { head, shown });
        return 0;
      };
      if (dir === undefined)
        return await writeTo(
          (text) => void process.stdout.write(text),
          (task) => task,
        );
      return await inNewFolder(dir, (folder) => writeTo(writerTo(folder, isLines), (task) => withFiles(task, folder)));
    });
  } catch (thrown) {
    throw asCliError(thrown);
  }
}

/** Removes what was written if the export fails. */
async function inNewFolder<T>(dir: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = resolve(dir);
  const created = makeFolder(folder);
  if (readdirSync(folder).length > 0) throw new CliError(`${dir} is not empty; choose a new folder`, { exit: 2 });
  try {
    return await use(folder);
  } catch (thrown) {
    await emptyAgain(folder, created);
    throw thrown;
  }
}

function writerTo(folder: string, isLines: boolean): Write {
  const path = join(folder, isLines ? 'data.jsonl' : 'data.json');
  return (text) => writeFileSync(path, text, { flag: 'a', mode: 0o600 });
}

async function writeLines(pages: AsyncIterable<AdminExportPage>, write: Write, shown: Shown): Promise<void> {
  for await (const { tasks, directAnswers = [], conversationNames = [] } of pages) {
    for (const task of tasks) write(`${JSON.stringify(shown(task))}\n`);
    for (const answer of directAnswers) write(`${JSON.stringify({ directAnswer: answer })}\n`);
    for (const name of conversationNames) write(`${JSON.stringify({ conversationName: name })}\n`);
  }
}

interface Document {
  readonly head: object;
  readonly shown: Shown;
}

async function writeDocument(pages: AsyncIterable<AdminExportPage>, write: Write, { head, shown }: Document): Promise<void> {
  write(`${JSON.stringify(head).slice(0, -1)},\n"tasks":[`);
  let separator = '\n';
  let answers: AdminExportPage['directAnswers'] = [];
  let names: AdminExportPage['conversationNames'] = [];
  for await (const page of pages) {
    for (const task of page.tasks) {
      write(`${separator}${JSON.stringify(shown(task))}`);
      separator = ',\n';
    }
    answers = page.directAnswers ?? answers;
    names = page.conversationNames ?? names;
  }
  write(`],\n"directAnswers":${JSON.stringify(answers)},\n"conversationNames":${JSON.stringify(names)}}\n`);
}

/** The task with its files outside the JSON: a part names its file in place of `raw`. */
function withFiles(exported: AdminExportedTask, folder: string): unknown {
  const moved = (parts: readonly Part[]): readonly unknown[] => parts.map((part) => (part.raw === undefined ? part : toFile(part, folder)));
  const { task } = exported;
  return {
    ...exported,
    task: {
      ...task,
      ...(task.history === undefined ? {} : { history: task.history.map((message) => ({ ...message, parts: moved(message.parts) })) }),
      ...(task.artifacts === undefined
        ? {}
        : { artifacts: task.artifacts.map((artifact) => ({ ...artifact, parts: moved(artifact.parts) })) }),
    },
  };
}

/** Named by content: an equal file is written once. The caller's own name of a file stays in the JSON only. */
function toFile({ raw = '', ...part }: Part, folder: string): unknown {
  const content = Buffer.from(raw, 'base64');
  const file = join('files', createHash('sha256').update(content).digest('hex'));
  makeFolder(join(folder, 'files'));
  writeFileSync(join(folder, file), content, { mode: 0o600 });
  return { ...part, file };
}
