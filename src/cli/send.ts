import type { ContextId, JsonObject, SendRequest, TaskId } from '#protocol';
import { createUserMessage } from '#protocol';
import { connect } from './agent/connect.ts';
import type { Command } from './command.ts';
import { usage } from './command.ts';
import { printResult, warnOf } from './contract/results.ts';
import { sendAndPrint, sendAndWait, sendOnly } from './contract/send-message.ts';
import type { ContractSession } from './contract/session.ts';
import { contractCommand } from './contract/session.ts';
import { ASYNC, CONTEXT_ID, GLOBALS, METADATA, POLL, STREAM, TASK_ID, WAIT } from './flags/globals.ts';
import { partsFrom } from './parts/read-parts.ts';

export const sendCommand: Command = contractCommand(
  {
    name: 'send',
    summary: 'send a message to an agent and print the result.',
    args: [{ name: 'TEXT', optional: true, many: true }],
    flags: [
      { name: 'text-part', aliases: ['text'], kind: 'list', value: 'TEXT', doc: 'A text part.' },
      { name: 'file-part', aliases: ['file'], kind: 'list', value: 'PATH|URL', doc: 'A file: a path goes inline, a URL as a reference.' },
      { name: 'data-part', aliases: ['data'], kind: 'list', value: 'PATH|-', doc: 'A data part, out of a JSON file or standard input.' },
      { name: 'media-type', kind: 'list', value: 'TYPE', doc: 'The type of the part just before it.' },
      CONTEXT_ID,
      TASK_ID,
      METADATA,
      ASYNC,
      { ...WAIT, default: 'on' },
      POLL,
      STREAM,
    ],
    globals: GLOBALS,
    details: `Parts are sent in the order in which they are typed; a word without a flag is a text part. By default it waits until the task is done,
or needs something from you; it prints the ids and the command that continues. Exit code 0 says that the call worked, and the
state what became of the task.`,
    examples: [
      'parley send -a agents.example.org "Plan a 3-day trip"',
      'parley send -a agents.example.org --task-id 5d1c "Lisbon"',
      'parley send -a localhost:41242 -o json --stream --file-part map.pdf "What is on it?"',
    ],
    exits:
      '0 carried out, whatever the state of the task; 1 failed; 2 wrong call; 3 not found or not reached; 4 credentials; 5 out of time.',
  },
  send,
);

/** Sends one message in the way that the A2A CLI specification describes (§4). */
async function send(session: ContractSession): Promise<number> {
  const { settings } = session;
  const isAsync = wantsAsync(session);
  if (isAsync && session.stream) throw usage('--async and --stream exclude each other', 'leave one of them out');
  const metadata = metadataFrom(settings.text('metadata'));
  const parts = await partsFrom(session.parsed.given);
  const [taskId, contextId] = [settings.text('task-id'), settings.text('context-id')];
  const message = createUserMessage(parts, {
    ...(taskId === undefined ? {} : { taskId: taskId as TaskId }),
    ...(contextId === undefined ? {} : { contextId: contextId as ContextId }),
  });
  const request: SendRequest = metadata === undefined ? { message } : { message, metadata };
  const connection = await connect(session);
  const continued = taskId !== undefined || contextId !== undefined;
  return await connection.run(
    async () => {
      if (session.stream) {
        const seen = await sendAndPrint(session, connection, request);
        warnOf(session, seen.state);
        return 0;
      }
      const result = isAsync ? await sendOnly(connection, request) : await sendAndWait(session, connection, request);
      printResult(session, connection, result);
      warnOf(session, result.task?.status.state);
      return 0;
    },
    { continued },
  );
}

/** If `--async` and `--wait` conflict, the flag wins over the environment, and that over a file. */
function wantsAsync({ settings }: ContractSession): boolean {
  const [noWait, wait] = [settings.find('async'), settings.find('wait')];
  const isOn = (setting: typeof wait): boolean => setting?.values[0] === 'true';
  if (!isOn(noWait)) return wait !== undefined && !isOn(wait) && noWait === undefined;
  if (!isOn(wait)) return true;
  const order = ['flag', 'env', 'local', 'global'];
  const distance = (setting: typeof wait): number => order.indexOf(setting?.source.kind ?? 'global');
  if (distance(noWait) === 0 && distance(wait) === 0) throw usage('--async and --wait exclude each other', 'leave one of them out');
  return distance(noWait) < distance(wait);
}

/** The JSON object of `--metadata`. */
function metadataFrom(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Reported below.
  }
  throw usage(`--metadata: ${text.slice(0, 40)} is not a JSON object`, `example: --metadata '{"trace":"42"}'`);
}
