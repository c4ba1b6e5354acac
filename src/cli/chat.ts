import type { SendHandle } from '#client';
import { questionOf } from '#client';
import type { SendResult } from '#protocol';
import { asCliError } from './agent/errors.ts';
import { quoted } from './agent/words.ts';
import type { ChatThread } from './chat/commands.ts';
import { CHAT_COMMANDS, fileNames, filesFrom, inputFor } from './chat/commands.ts';
import type { CliError, Command } from './command.ts';
import { usage } from './command.ts';
import { createPerson, openPrompt } from './conversation/answers.ts';
import type { ReachedAgent } from './conversation/connect.ts';
import { reachAgent } from './conversation/connect.ts';
import { AGENT_FLAGS, TALK_FLAGS, WIRE_FLAGS, wantsOutput } from './conversation/flags.ts';
import { onInterrupt } from './conversation/interrupt.ts';
import { ANSWER_MEMBERS, summary } from './conversation/json-result.ts';
import type { Screen } from './conversation/terminal.ts';
import { notesOnly, openScreen, silentScreen } from './conversation/terminal.ts';
import { talk } from './conversation/turn.ts';
import { helpFor } from './flags/help.ts';
import { argumentsOf, listOf, parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { printError } from './output/errors.ts';
import { messageText, stateText, taskText } from './output/labels.ts';
import { saveArtifacts } from './parts/save-artifacts.ts';
import type { RunContext } from './run-context.ts';
import { createRunContext } from './run-context.ts';
import { effectiveDefaults } from './settings/effective-defaults.ts';

const spec: CommandSpec = {
  name: 'chat',
  summary: 'talk with an agent.',
  args: [{ name: 'URL', optional: true }],
  flags: [
    ...AGENT_FLAGS,
    ...TALK_FLAGS,
    { name: 'json', kind: 'switch', doc: `Print one JSON object for each message: ${ANSWER_MEMBERS}; or error.` },
  ],
  globals: WIRE_FLAGS,
  details: `URL is short for --agent-card. Every line is a message in the same context; while the agent waits for an answer the next line is that answer. In the
chat ${CHAT_COMMANDS}. Off a terminal, input is taken line by line, every answer is printed with its ids and state as parley send does (with --json as
an object each), and the first message that fails ends the chat with its exit code.`,
  examples: ['parley chat localhost:41242'],
  exits: '0 left; 1 failed on the way; 2 wrong call; 3 not found or not reached; 4 credentials; 5 out of time.',
};

export const chatCommand: Command = {
  name: 'chat',
  get help() {
    return helpFor(spec, effectiveDefaults(spec));
  },
  spec,
  run,
};

/** Connects first, so that nobody types a message that can't be sent. */
async function run(args: readonly string[]): Promise<number> {
  const parsed = parse(spec, args);
  const asked = createRunContext(parsed);
  const target = argumentsOf(parsed)[0] ?? asked.settings.text('agent-card');
  if (target === undefined) throw usage('the URL of the agent is missing', 'example: parley chat localhost:41242');
  try {
    const reached = await reachAgent(asked, target);
    const screen = wantsOutput(asked) ? silentScreen : isScript(asked) ? notesOnly : openScreen();
    const name = reached.client.card?.name ?? target;
    screen.note(`${name}, by ${reached.client.connection.title}. /help shows what else you can type.`, 'dim');
    await chat(asked, reached, screen);
    return 0;
  } catch (thrown) {
    return await printError(thrown, { json: wantsOutput(asked), secrets: asked.secrets });
  }
}

/** Nobody sits at a terminal, or a program wants JSON: the output is for programs (A2ACLI_OUT_005). */
function isScript(asked: RunContext): boolean {
  return wantsOutput(asked) || process.stdin.isTTY !== true || process.stdout.isTTY !== true;
}

/** Reads lines until `/quit` or the end of the input. Ctrl-C cancels the running task; without one it leaves. */
async function chat(asked: RunContext, { client, call }: ReachedAgent, screen: Screen): Promise<void> {
  const { parsed, settings, signal } = asked;
  let current: SendHandle | undefined;
  let interrupt = onInterrupt(screen, () => current);
  const prompt = openPrompt(screen, () => interrupt.fire());
  const [contextId, taskId] = [settings.text('context-id'), settings.text('task-id')];
  const thread: ChatThread = {
    artifacts: [],
    ...(contextId === undefined ? {} : { contextId }),
    ...(taskId === undefined ? {} : { taskId }),
    files: [],
  };
  thread.files = await filesFrom(listOf(parsed, 'file'));
  // The next line answers a question.
  const person = createPerson({
    screen,
    answers: listOf(parsed, 'answer'),
    approves: switchOf(parsed, 'yes'),
    prompt: process.stdin.isTTY === true ? prompt.ask : undefined,
  });
  try {
    for (let line = await prompt.ask('> '); line !== undefined; line = await prompt.ask('> ')) {
      const input = await inputFor(line, { client, thread, signal, screen: isScript(asked) ? failing(screen) : screen });
      if (input === 'quit') return;
      if (input === undefined) continue;
      try {
        const { files: _, artifacts: __, asked: before, ...ids } = thread;
        delete thread.asked;
        const onAsked = (handle: SendHandle): void => {
          thread.asked = handle;
        };
        const onHandle = (handle: SendHandle | undefined): void => {
          current = handle;
        };
        const result = await talk(input, { client, screen, person, onHandle, thread: ids, asked: before, onAsked, signal });
        thread.files = [];
        carry(thread, result);
        await told(asked, result, { screen, resume: call.agent, isCanceled: interrupt.fired });
      } catch (thrown) {
        screen.clear();
        const task = current?.taskId;
        current = undefined; // Ctrl-C at the prompt leaves: there is nothing to cancel any more
        if (interrupt.fired && task === undefined && !isScript(asked)) screen.note('canceled before the agent answered', 'dim');
        else failed(asked, asCliError(thrown, { ...call, task }), screen);
      }
      if (interrupt.fired) {
        interrupt.end();
        interrupt = onInterrupt(screen, () => current);
      }
    }
  } finally {
    await thread.asked?.close();
    prompt.close();
    interrupt.end();
  }
}

/** A failed message leaves the chat open, unless the agent is gone or nobody can react to it. */
function failed(asked: RunContext, error: CliError, screen: Screen): void {
  if (error.exit === 3 || error.exit === 5 || isScript(asked)) throw error;
  screen.note(`${error.message}${error.hint === undefined ? '' : `\n  ${error.hint}`}`, 'bad');
}

/** The next message continues the task only if it waits (A2ACLI_CHAT_001). It always continues the context. */
function carry(thread: ChatThread, { task, message }: SendResult): void {
  const contextId = task?.contextId ?? message?.contextId;
  if (contextId !== undefined && contextId !== '') thread.contextId = contextId;
  thread.artifacts = task?.artifacts ?? [];
  delete thread.taskId;
  if (task !== undefined && questionOf(task) !== undefined) thread.taskId = task.id;
}

interface Telling {
  readonly screen: Screen;
  /** The words that name the agent in a command. */
  readonly resume: string;
  /** The user has canceled the task, so its end needs no note. */
  readonly isCanceled: boolean;
}

/** Prints how the task ended and saves its files. */
async function told(asked: RunContext, result: SendResult, { screen, resume, isCanceled }: Telling): Promise<void> {
  const { parsed, signal } = asked;
  const { task } = result;
  if (task !== undefined && !isCanceled && /FAILED|REJECTED|CANCELED/.test(task.status.state))
    screen.note(stateText(task.status.state).toLowerCase(), 'bad');
  const folder = textOf(parsed, 'save');
  const warn = (text: string): void => screen.note(text);
  const files =
    folder === undefined
      ? []
      : await saveArtifacts(task?.artifacts ?? [], { folder, overwrite: switchOf(parsed, 'force'), filesOnly: true, signal, warn });
  for (const { path, bytes } of files) screen.note(`wrote ${path} (${bytes} bytes)`, 'good');
  const made = folder === undefined && !isScript(asked) ? fileNames(task?.artifacts ?? []) : [];
  if (made.length > 0)
    screen.note(`/save writes ${made.length === 1 ? 'this file' : `these ${made.length} files`} into this folder`, 'dim');
  if (wantsOutput(asked)) process.stdout.write(`${JSON.stringify(summary(result, files))}\n`);
  else if (isScript(asked)) process.stdout.write(`${answerLabels(result, resume)}\n`);
}

function answerLabels({ task, message }: SendResult, agent: string): string {
  if (task === undefined) return message === undefined ? '' : messageText(message);
  return taskText(task, { resume: `parley send ${agent} --task-id ${quoted(task.id)} "<reply>"` });
}

/** Off a terminal nobody reads that a command was refused, so it ends the chat. Otherwise the next message would be sent without its file. */
function failing(screen: Screen): Screen {
  const note = (text: string, tone?: Parameters<Screen['note']>[1]): void => {
    if (tone === 'bad') throw usage(text, CHAT_COMMANDS);
    screen.note(text, tone);
  };
  return { ...screen, note };
}
