import type { SendHandle } from '#client';
import { checkOffered, questionOf } from '#client';
import type { Part, SendResult, TaskState } from '#protocol';
import { asCliError } from './agent/errors.ts';
import { quoted } from './agent/words.ts';
import type { Command } from './command.ts';
import { readStdin, usage } from './command.ts';
import { createPerson, openPrompt } from './conversation/answers.ts';
import type { ReachedAgent } from './conversation/connect.ts';
import { reachAgent } from './conversation/connect.ts';
import { AGENT_FLAGS, TALK_FLAGS, targetIn, WIRE_FLAGS, wantsOutput } from './conversation/flags.ts';
import { onInterrupt } from './conversation/interrupt.ts';
import { ANSWER_MEMBERS, summary } from './conversation/json-result.ts';
import type { Screen } from './conversation/terminal.ts';
import { openScreen, silentScreen } from './conversation/terminal.ts';
import { talk } from './conversation/turn.ts';
import { helpFor } from './flags/help.ts';
import type { ParsedFlags } from './flags/parse.ts';
import { listOf, parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { printError, wantsJson } from './output/errors.ts';
import { partsFrom } from './parts/read-parts.ts';
import { saveArtifacts } from './parts/save-artifacts.ts';
import type { RunContext } from './run-context.ts';
import { createRunContext } from './run-context.ts';
import { effectiveDefaults } from './settings/effective-defaults.ts';

const spec: CommandSpec = {
  name: 'ask',
  summary: 'ask an agent something, whatever dialect it speaks, and see the answer come.',
  args: [
    { name: 'URL', optional: true },
    { name: 'TEXT', optional: true, many: true },
  ],
  flags: [...AGENT_FLAGS, ...TALK_FLAGS, { name: 'json', kind: 'switch', doc: `Print one JSON object at the end: ${ANSWER_MEMBERS}.` }],
  globals: WIRE_FLAGS,
  details: `URL is an agent's address, its card's address or file, or a name from parley.config. Without TEXT, or with -, standard input is sent. Questions
and approvals are answered in place. Ctrl-C cancels the task, and so do SIGTERM and a reader that leaves, as head does; --timeout leaves it running.
Where nobody can answer, the question is printed and the exit code is 6.`,
  examples: [
    'parley ask localhost:41242 "What can you do?"',
    'git diff | parley ask localhost:41242 "Review this change" -',
    'parley ask https://agents.example.org "Draw a map" --save out',
  ],
  exits:
    '0 answered; 1 failed, by the agent or on the way; 2 wrong call; 3 not found or not reached; 4 credentials; 5 out of time; 6 the agent waits for an answer; 130 canceled, 143 by SIGTERM.',
};

export const askCommand: Command = {
  name: 'ask',
  get help() {
    return helpFor(spec, effectiveDefaults(spec));
  },
  spec,
  run,
};

/** Reads the input before it connects, so that a missing file is reported at once. */
async function run(args: readonly string[]): Promise<number> {
  const parsed = parse(spec, args);
  const { target, more: words } = targetIn(parsed);
  const asked = createRunContext(parsed);
  const json = wantsOutput(asked);
  try {
    const input = await inputFrom(parsed, words);
    const reached = await reachAgent(asked, target);
    return await ask(asked, reached, { input, screen: json ? silentScreen : openScreen(), json });
  } catch (thrown) {
    return await printError(thrown, { json: wantsJson(args, process.env), secrets: asked.secrets });
  }
}

/** One text of all words, standard input for `-`, and the files. */
async function inputFrom(parsed: ParsedFlags, words: readonly string[]): Promise<readonly Part[]> {
  const piped = words.includes('-') || (words.length === 0 && process.stdin.isTTY !== true) ? await readStdin() : '';
  const text = [words.filter((word) => word !== '-').join(' '), piped].filter((part) => part !== '').join('\n\n');
  const files = parsed.given.filter(({ flag }) => flag?.name === 'file');
  if (text === '' && files.length === 0) throw usage('there is nothing to ask', 'example: parley ask localhost:41242 "What can you do?"');
  const parts = await Promise.all(
    files.map((file) => partsFrom([{ flag: { name: 'file-part', kind: 'list', doc: '' }, value: file.value }])),
  );
  return [...(text === '' ? [] : [{ text }]), ...parts.flat()];
}

interface Asking {
  readonly input: readonly Part[];
  readonly screen: Screen;
  readonly json: boolean;
}

/** Sends one message, answers the agent's questions, and saves files. Ctrl-C cancels the task. */
async function ask(asked: RunContext, { client, call }: ReachedAgent, { input, screen, json }: Asking): Promise<number> {
  const { parsed, settings, signal } = asked;
  let current: SendHandle | undefined;
  const interrupt = onInterrupt(screen, () => current);
  const prompt = process.stdin.isTTY === true && !json ? openPrompt(screen, interrupt.fire) : undefined;
  const person = createPerson({ screen, answers: listOf(parsed, 'answer'), approves: switchOf(parsed, 'yes'), prompt: prompt?.ask });
  const [taskId, contextId] = [settings.text('task-id'), settings.text('context-id')];
  const skill = textOf(parsed, 'skill');
  const thread = {
    ...(taskId === undefined ? {} : { taskId }),
    ...(contextId === undefined ? {} : { contextId }),
    ...(skill === undefined ? {} : { skill }),
  };
  const onHandle = (handle: SendHandle | undefined): void => {
    current = handle;
  };
  try {
    if (skill !== undefined) checkOffered(skill, client.card);
    const result = await talk(input, { client, screen, person, onHandle, thread, signal });
    const folder = textOf(parsed, 'save');
    const files =
      folder === undefined
        ? []
        : await saveArtifacts(result.task?.artifacts ?? [], {
            folder,
            overwrite: switchOf(parsed, 'force'),
            filesOnly: true,
            signal,
            warn: (text) => screen.note(text),
          });
    for (const { path, bytes } of files) screen.note(`wrote ${path} (${bytes} bytes)`, 'good');
    if (json) process.stdout.write(`${JSON.stringify(summary(result, files))}\n`);
    return interrupt.fired ? interrupt.code : outcome(result, { screen, target: call.agent });
  } catch (thrown) {
    screen.clear();
    if (interrupt.fired) return interrupt.code;
    throw asCliError(signal.aborted ? signal.reason : thrown, { ...call, task: current?.taskId ?? taskId });
  } finally {
    prompt?.close();
    interrupt.end();
  }
}

const BAD: Readonly<Partial<Record<TaskState, string>>> = {
  TASK_STATE_FAILED: 'the task failed',
  TASK_STATE_REJECTED: 'the agent rejected the task',
  TASK_STATE_CANCELED: 'the task was canceled',
};

/** For `ask` the exit code tells whether there is an answer. */
function outcome({ task }: SendResult, { screen, target }: { readonly screen: Screen; readonly target: string }): number {
  if (task === undefined) return 0;
  const bad = BAD[task.status.state];
  if (bad !== undefined) {
    screen.note(bad, 'bad');
    return 1;
  }
  if (questionOf(task) === undefined) return 0;
  screen.note(`to answer: parley ask ${target.replace(/^-a /, '')} --task-id ${quoted(task.id)} "…"`, 'dim');
  return 6;
}
