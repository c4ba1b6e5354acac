import type { ContextId, Json, ListRequest, TaskPage, TaskState } from '#protocol';
import { TASK_STATES } from '#protocol';
import type { AgentConnection } from '../agent/connect.ts';
import { connect } from '../agent/connect.ts';
import type { Command } from '../command.ts';
import { CliError, usage } from '../command.ts';
import { printJson } from '../contract/results.ts';
import type { ContractSession } from '../contract/session.ts';
import { contractCommand } from '../contract/session.ts';
import { CONTEXT_ID, GLOBALS, STREAM } from '../flags/globals.ts';
import { switchOf, textOf } from '../flags/parse.ts';
import { field, idsText, taskText } from '../output/labels.ts';
import { taskRows } from '../output/task-rows.ts';
import { EXITS } from './exits.ts';

export const listCommand: Command = contractCommand(
  {
    name: 'task list',
    summary: 'list the tasks of an agent, newest first, page by page.',
    args: [],
    flags: [
      { name: 'status', aliases: ['state'], kind: 'text', value: 'STATE', doc: 'Only tasks in this state, as WORKING.' },
      { ...CONTEXT_ID, doc: 'Only tasks of this context.' },
      { name: 'page-size', aliases: ['limit'], kind: 'text', value: 'N', doc: 'How many on a page.' },
      { name: 'page-token', kind: 'text', value: 'TOKEN', doc: 'Where the last page ended: its nextPageToken.' },
      { name: 'all', kind: 'switch', doc: 'Every page, one after the other.' },
      { name: 'since', kind: 'text', value: 'TIME', doc: 'Only what changed after this time, as 2026-09-02T08:00:00Z.' },
      { name: 'artifacts', aliases: ['with-artifacts'], kind: 'switch', doc: 'With what the tasks made.' },
      STREAM,
    ],
    globals: GLOBALS,
    details:
      'On a terminal one line a task: when, who, the state, the first words, the id. With -o json one page as the agent sent it; with --stream one task a line.',
    examples: ['parley task list localhost:41242', 'parley task list -a agents.example.org --status INPUT_REQUIRED'],
    exits: EXITS,
  },
  async (session) => {
    const request = requestFrom(session);
    const connection = await connect(session);
    await connection.run(() => print(session, connection, request));
    return 0;
  },
);

/** Prints one page, or every page with `--all`. */
async function print(session: ContractSession, connection: AgentConnection, request: ListRequest): Promise<void> {
  const everyPage = switchOf(session.parsed, 'all');
  const pages: TaskPage[] = [];
  let pageToken = request.pageToken;
  do {
    const page = await connection.service.list(pageToken === undefined ? request : { ...request, pageToken }, connection.ctx());
    if (session.json && !session.stream) pages.push(page);
    else printPage(session, connection, page);
    pageToken = page.nextPageToken === '' ? undefined : page.nextPageToken;
  } while (everyPage && pageToken !== undefined);
  if (!session.json || session.stream) {
    if (!session.json && pageToken !== undefined) session.out(field('Next', pageToken));
    return;
  }
  const [first] = pages;
  if (first === undefined) return;
  printJson(session, pages.length === 1 ? connection.answers.json('list.result', first) : joined(connection, pages));
}

/** One response out of many pages. The tasks are as the agent sent them. */
function joined(connection: AgentConnection, pages: readonly TaskPage[]): Json {
  const tasks = pages.flatMap((page) => rawTasks(connection, page));
  return { tasks, nextPageToken: '', pageSize: tasks.length, totalSize: Math.max(tasks.length, ...pages.map((page) => page.totalSize)) };
}

function rawTasks({ answers }: AgentConnection, page: TaskPage): readonly Json[] {
  const raw = answers.rawOf(page) as { readonly tasks?: readonly Json[] } | undefined;
  return page.tasks.map((task, at) => raw?.tasks?.[at] ?? answers.json('get.result', task));
}

function printPage(session: ContractSession, connection: AgentConnection, page: TaskPage): void {
  if (session.json) for (const task of rawTasks(connection, page)) printJson(session, task);
  else if (isForPeople(session)) {
    const agent = connection.found?.card.name ?? connection.agent;
    session.out(taskRows(page.tasks, { agent, columns: process.stdout.columns || 80 }));
  } else for (const task of page.tasks) session.out(`${session.verbose ? taskText(task, { verbose: true }) : idsText(task)}\n`);
}

/** Programs read the labels of the A2A CLI specification. */
function isForPeople({ json, verbose }: ContractSession): boolean {
  return !json && !verbose && process.stdout.isTTY === true;
}

/** How much of the history is asked for, to show the first words of a task. */
const HISTORY_LENGTH = 20;

/** The list request from the flags. */
function requestFrom(session: ContractSession): ListRequest {
  const { parsed, settings } = session;
  const text = (name: string): string | undefined => textOf(parsed, name);
  const [status, size, pageToken, since] = [text('status'), text('page-size'), text('page-token'), text('since')];
  const contextId = settings.text('context-id');
  if (size !== undefined && !/^[1-9]\d{0,5}$/.test(size))
    throw usage(`--page-size: ${size} is no number of tasks`, 'example: --page-size 20');
  if (since !== undefined && Number.isNaN(Date.parse(since)))
    throw usage(`--since: ${since} is no time`, 'example: --since 2026-09-02T08:00:00Z');
  return {
    ...(status === undefined ? {} : { status: stateNamed(status) }),
    ...(contextId === undefined ? {} : { contextId: contextId as ContextId }),
    ...(size === undefined ? {} : { pageSize: Number(size) }),
    ...(pageToken === undefined ? {} : { pageToken }),
    ...(since === undefined ? {} : { statusTimestampAfter: new Date(since).toISOString() }),
    ...(switchOf(parsed, 'artifacts') ? { includeArtifacts: true } : {}),
    ...(isForPeople(session) ? { historyLength: HISTORY_LENGTH } : {}),
  };
}

/** Accepts every spelling: `working`, `input-required`, `TASK_STATE_WORKING`. */
export function stateNamed(text: string): TaskState {
  const name = text.toUpperCase().replaceAll('-', '_');
  const known = Object.keys(TASK_STATES) as TaskState[];
  const found = known.find((state) => state === name || state === `TASK_STATE_${name}`);
  if (found !== undefined) return found;
  const names = known.map((state) => state.replace('TASK_STATE_', ''));
  throw new CliError(`--status: there is no state ${text}`, {
    meant: { word: name, known: names },
    hint: `one of: ${names.join(', ')}`,
    exit: 2,
  });
}
