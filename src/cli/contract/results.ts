import type { Json, SendResult, Task, TaskEvent } from '#protocol';
import type { AgentConnection } from '../agent/connect.ts';
import { quoted } from '../agent/words.ts';
import { eventText, field, messageText, stateText, taskText } from '../output/labels.ts';
import type { ContractSession } from './session.ts';
import type { TaskProgress } from './wait.ts';

/** Prints a payload as indented JSON. */
export function printJson(session: ContractSession, value: Json): void {
  session.out(`${JSON.stringify(value)}\n`);
}

/** The command that continues a waiting task, ready to be copied: with the transport, version and TLS flags of this one. */
function resumeCommand(connection: AgentConnection, id: string): string {
  return `parley send ${connection.agent} --task-id ${quoted(id)} "<reply>"`;
}

const UNREPEATED = { bearer: 'A2ACLI_BEARER', 'api-key': 'A2ACLI_API_KEY', basic: 'A2ACLI_BASIC' } as const;

/** A printed command never has a secret. Says what the caller must add to it. */
function noteUnrepeated(session: ContractSession): void {
  const { settings } = session;
  const secrets = Object.entries(UNREPEATED).filter(([name]) => settings.find(name)?.source.kind === 'flag');
  for (const [name, variable] of secrets) session.note(`note: the resume command needs the value of --${name} too: set ${variable}\n`);
  if (settings.list('svc-param').length > 0) session.note('note: the resume command needs the values of --svc-param too\n');
}

/** Prints a task, with the command that continues it if it waits. */
export function printTask(
  session: ContractSession,
  connection: AgentConnection,
  task: Task,
  options: { readonly history?: boolean } = {},
): void {
  if (session.json) printJson(session, connection.answers.json('get.result', task));
  else session.out(taskText(task, { ...options, verbose: session.verbose, resume: resumeCommand(connection, task.id) }));
}

/** Prints a `SendMessageResponse`. */
export function printResult(session: ContractSession, connection: AgentConnection, result: SendResult): void {
  if (!session.json) {
    if (result.message !== undefined) session.out(messageText(result.message));
    else printTask(session, connection, result.task);
    return;
  }
  const { answers } = connection;
  // A polled task came without its envelope.
  const polled =
    answers.rawOf(result) === undefined && result.task !== undefined ? { task: answers.json('get.result', result.task) } : undefined;
  printJson(session, polled ?? answers.json('send.result', result));
}

export function printEvent(session: ContractSession, connection: AgentConnection, event: TaskEvent): void {
  if (!session.json) session.out(eventText(event));
  else if (event.task !== undefined || event.message !== undefined) printResult(session, connection, event);
  else printJson(session, connection.answers.json('event', event));
}

/** Prints task, context and state after the last event of a stream. */
export function printEnd(session: ContractSession, connection: AgentConnection, seen: TaskProgress): void {
  if (session.json || seen.id === undefined) return;
  session.out(field('Task', seen.id) + field('Context', seen.contextId ?? '') + field('State', stateText(seen.state ?? 'UNSPECIFIED')));
  if (seen.settled && seen.state !== undefined && /_REQUIRED$/.test(seen.state))
    session.out(field('Resume', resumeCommand(connection, seen.id)));
}

const WORDS: Readonly<Record<string, string>> = {
  TASK_STATE_INPUT_REQUIRED: 'task is waiting for input',
  TASK_STATE_AUTH_REQUIRED: 'task is waiting for authorization',
  TASK_STATE_FAILED: 'task failed',
  TASK_STATE_REJECTED: 'the agent rejected the task',
  TASK_STATE_CANCELED: 'task was canceled',
};

/** Warns about every outcome but success. The exit code is about the tool, not about the task (A2A CLI specification §6). */
export function warnOf(session: ContractSession, state: string | undefined): void {
  const words = state === undefined ? undefined : WORDS[state];
  if (words === undefined || state === undefined) return;
  session.note(`warning: ${words} (${stateText(state)})\n`);
  if (!session.json && /_REQUIRED$/.test(state)) noteUnrepeated(session);
}

const NOTE_AFTER_MS = 300;

/** Says which task the command waits for, so that the caller can interrupt and continue later. Not for quick tasks. */
export function noteWaiting(session: ContractSession, { id, contextId }: Pick<Task, 'id' | 'contextId'>): () => void {
  const timer = setTimeout(() => {
    session.note(`waiting for task ${id} (context ${contextId ?? 'unknown'}); Ctrl-C leaves it running\n`);
  }, NOTE_AFTER_MS);
  return () => clearTimeout(timer);
}
