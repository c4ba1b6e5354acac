import type { AdminFoundTask, AdminSearchPage } from '#protocol';
import type { Command } from '../command.ts';
import { CliError } from '../command.ts';
import { helpFor } from '../flags/help.ts';
import type { ParsedFlags } from '../flags/parse.ts';
import { parse, switchOf, textOf } from '../flags/parse.ts';
import type { CommandSpec } from '../flags/spec.ts';
import { NODE_FLAGS, nodeApi } from '../node-flags.ts';
import { field, stateText } from '../output/labels.ts';
import { oneLine } from '../output/plain-text.ts';
import { stateNamed } from './list.ts';

const SPEC: CommandSpec = {
  name: 'task search',
  summary: 'find tasks of a node by the words in their messages and artifacts, newest first.',
  args: [{ name: 'WORDS', many: true }],
  usage: ['parley task search WORDS… [OPTIONS]'],
  details: `All words must occur in a task, anywhere. Quotes (in the shell: '"late invoice"') are for words that follow each other, and a star at the end
for words that start like that: invo*. Case and accents do not matter. A new task is found some seconds later. It searches the tasks of a running node of
Parley, of all callers, and needs the scope admin. On a terminal the words that it found are bold.`,
  flags: [
    ...NODE_FLAGS,
    { name: 'agent', kind: 'text', value: 'NAME', doc: 'Only tasks of this agent.' },
    { name: 'principal', kind: 'text', value: 'P', doc: 'Only tasks of this caller.' },
    { name: 'status', aliases: ['state'], kind: 'text', value: 'STATE', doc: 'Only tasks in this state, as WORKING.' },
    { name: 'context-id', aliases: ['context'], kind: 'text', value: 'ID', doc: 'Only tasks of this context.' },
    { name: 'since', kind: 'text', value: 'TIME', doc: 'Only what changed after this time, as 2026-09-02T08:00:00Z.' },
    { name: 'page-size', aliases: ['limit'], kind: 'text', value: 'N', default: '20', doc: 'How many on a page, up to 100.' },
    { name: 'page-token', kind: 'text', value: 'TOKEN', doc: 'Where the last page ended: its nextPageToken.' },
    { name: 'json', kind: 'switch', doc: 'Print the page as JSON.' },
  ],
  examples: ['parley task search late invoice --since 2026-09-01', `parley task search '"blue sky"' invo* --json`],
  exits: '0 searched, also if nothing was found; 1 the node rejected the request; 2 wrong call; 3 the node did not answer.',
};

export const searchCommand: Command = { name: 'search', help: helpFor(SPEC), spec: SPEC, run };

/** Prints one page of a search. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const query = queryFrom(flags);
  const page = (await nodeApi(flags).ask('GET', `/search?${query}`)) as AdminSearchPage;
  process.stdout.write(switchOf(flags, 'json') ? `${JSON.stringify(page)}\n` : pageText(page, process.stdout.isTTY === true));
  return 0;
}

function queryFrom(flags: ParsedFlags): URLSearchParams {
  const text = flags.positionals.join(' ');
  if (text.trim() === '') throw new CliError('search for which words?', { hint: 'example: parley task search late invoice', exit: 2 });
  const query = new URLSearchParams({ text });
  const put = (name: string, value: string | undefined): void => {
    if (value !== undefined) query.set(name, value);
  };
  const [status, since] = [textOf(flags, 'status'), textOf(flags, 'since')];
  if (since !== undefined && Number.isNaN(Date.parse(since)))
    throw new CliError(`--since: ${since} is no time`, { hint: 'example: --since 2026-09-02T08:00:00Z', exit: 2 });
  put('agent', textOf(flags, 'agent'));
  put('principal', textOf(flags, 'principal'));
  put('status', status === undefined ? undefined : stateNamed(status));
  put('contextId', textOf(flags, 'context-id'));
  put('statusTimestampAfter', since === undefined ? undefined : new Date(since).toISOString());
  put('pageSize', textOf(flags, 'page-size'));
  put('pageToken', textOf(flags, 'page-token'));
  return query;
}

function pageText({ tasks, nextPageToken }: AdminSearchPage, isTerminal: boolean): string {
  if (tasks.length === 0) return 'No task has these words.\n';
  const rows = tasks.map(
    (task) => `${task.id}  ${oneLine(task.agent)}  ${stateWords(task)}  ${task.statusAt}\n  ${snippetText(task, isTerminal)}\n`,
  );
  return `${rows.join('')}${nextPageToken === '' ? '' : field('Next', nextPageToken)}`;
}

function stateWords({ state }: AdminFoundTask): string {
  return stateText(state).toLowerCase().replaceAll('_', '-');
}

/** Each piece is cleaned by itself: a task may contain control characters. */
function snippetText({ snippet: { text, marks } }: AdminFoundTask, isTerminal: boolean): string {
  let [out, at] = ['', 0];
  for (const [start, end] of marks) {
    const found = oneLine(text.slice(start, end));
    out += `${oneLine(text.slice(at, start))}${isTerminal ? `\u001b[1m${found}\u001b[22m` : found}`;
    at = end;
  }
  return out + oneLine(text.slice(at));
}
