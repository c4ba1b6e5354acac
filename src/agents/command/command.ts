import { randomUUID } from 'node:crypto';
import type { Child } from '../process/child.ts';
import { linesOf, textOf } from '../process/output.ts';
import type { Driver, Job } from '../run/driver.ts';
import type { RunEvent } from '../run/events.ts';
import { endOf } from '../run/exits.ts';
import { readLine } from './ndjson.ts';
import { withoutInjectedOptions } from './option-rules.ts';
import type { CommandOptions } from './options.ts';
import { createPrompter } from './prompter.ts';

/** Bytes to look at when the output format has to be detected. */
const PEEKED = 256;

/** The driver behind `createCommandAgent`. */
export function commandDriver(options: CommandOptions): Driver {
  const [program = ''] = options.argv;
  return {
    name: options.name ?? program.slice(program.lastIndexOf('/') + 1),
    ...{
      resumes: options.resumeFlag !== undefined,
      edits: false,
      environment: options.environment ?? [],
      homePaths: [],
      projectConfig: [],
    },
    run: (job) => runCommand(options, job),
  };
}

/** Runs the program once for a message. A failed exit counts more than the result it reported. */
async function* runCommand(options: CommandOptions, job: Job): AsyncGenerator<RunEvent> {
  const named = await conversation(options, job);
  const line = commandLine({ ...options, argv: [...options.argv, ...named] }, job);
  if (line === undefined) {
    yield { kind: 'refused', reason: `A message for ${options.argv[0]} must not begin with "-": the program could take it for an option.` };
    return;
  }
  const { argv, input } = line;
  const child = job.start(argv);
  yield { kind: 'init' };
  if (input !== undefined) void child.write(input);
  if (options.approvePattern === undefined) child.endInput();
  let said: RunEvent | undefined;
  for await (const event of eventsOf(options, child)) {
    // The program's report of its result counts after it has exited, and the first one wins.
    if (event.kind === 'done' || event.kind === 'error' || event.kind === 'refused') said ??= event;
    else yield event;
  }
  yield await endOf(child, argv[0] ?? '', () => said ?? { kind: 'done' });
}

/** The arguments that name the conversation, for a program that keeps conversations. */
async function conversation({ sessionFlag, resumeFlag }: CommandOptions, { session, keepSession }: Job): Promise<readonly string[]> {
  if (sessionFlag === undefined) return [];
  if (session !== undefined && resumeFlag !== undefined) return [resumeFlag, session];
  const id = randomUUID();
  await keepSession(id, resumeFlag !== undefined);
  return [sessionFlag, id];
}

/** Chooses how to read the output: as text, or as one JSON object per line. */
async function* eventsOf(options: CommandOptions, child: Child): AsyncGenerator<RunEvent> {
  const { output = 'auto', approvePattern, answerPath } = options;
  if (output === 'text' || approvePattern !== undefined) {
    yield* words(options, child, child.stdout);
    return;
  }
  const { first, chunks } = await peeked(child.stdout);
  yield* output === 'ndjson' || first === '{' ? objects(chunks, answerPath) : words(options, child, chunks);
}

interface CommandLine {
  readonly argv: readonly string[];
  readonly input: string | undefined;
}

/**
 * Replaces placeholders within arguments. Each stays one argument, whatever the message contains, and
 * none becomes an option. Undefined if that can't be ruled out.
 */
function commandLine({ argv, prompt: way, approvePattern }: CommandOptions, job: Job): CommandLine | undefined {
  const values: Readonly<Record<string, string>> = {
    '{prompt}': job.prompt,
    '{cwd}': job.folder,
    '{contextId}': job.message.contextId ?? '',
  };
  const isPlaced = argv.some((argument) => argument.includes('{prompt}'));
  const asArgument = way === 'argument' || (way === undefined && isPlaced);
  const written = asArgument && !isPlaced ? [...argv, '{prompt}'] : argv;
  const filled = written.map((argument, at) =>
    at === 0 ? argument : argument.replaceAll(/\{prompt\}|\{cwd\}|\{contextId\}/g, (name) => values[name] ?? name),
  );
  const safe = withoutInjectedOptions({ written, filled });
  if (safe === undefined) return undefined;
  if (asArgument) return { argv: safe, input: undefined };
  return { argv: safe, input: approvePattern === undefined ? job.prompt : `${job.prompt}\n` };
}

/** The text as it comes; with a pattern, also the questions in it. */
async function* words(options: CommandOptions, child: Child, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RunEvent> {
  const read = createPrompter(options, child);
  for await (const piece of textOf(chunks)) yield* read(piece);
}

async function* objects(chunks: AsyncIterable<Uint8Array>, answerPath: string | undefined): AsyncGenerator<RunEvent> {
  for await (const lines of linesOf(chunks)) {
    for (const { text, dropped } of lines) {
      if (dropped > 0) yield { kind: 'note', text: `A line of ${text.length + dropped} bytes was too long and is left out.` };
      else yield* readLine(text, answerPath);
    }
  }
}

/** The first character that is not white space, and all the chunks unchanged. */
async function peeked(stdout: AsyncIterable<Uint8Array>): Promise<{ readonly first: string; readonly chunks: AsyncIterable<Uint8Array> }> {
  const iterator = stdout[Symbol.asyncIterator]();
  const begun: Uint8Array[] = [];
  let first = '';
  while (first === '') {
    const step = await iterator.next();
    if (step.done === true) break;
    begun.push(step.value);
    first = Buffer.from(step.value.subarray(0, PEEKED)).toString('latin1').trimStart().slice(0, 1);
  }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield* begun.splice(0);
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { first, chunks: chunks() };
}
