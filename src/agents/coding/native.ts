import type { JsonObject } from '#protocol';
import { stripAnsi } from '../process/ansi.ts';
import type { Child } from '../process/child.ts';
import { objectIn } from '../process/json-line.ts';
import { linesOf } from '../process/output.ts';
import { clip } from '../run/clip.ts';
import type { Driver, Job } from '../run/driver.ts';
import type { RunEvent } from '../run/events.ts';
import { endOf } from '../run/exits.ts';

/** A CLI in its own print mode: how to start it, and how to read its lines. */
export interface NativeAdapter extends Omit<Driver, 'run' | 'edits' | 'resumes' | 'cancelMs'> {
  /**
   * The modes that a request may choose. A mode that grants everything is not among them: only the
   * operator may choose that.
   */
  readonly modes: readonly string[];
  /** The command line for one run. */
  launch(job: Job): NativeLaunch;
  /** A reader for one run. It may reply to the CLI if the CLI keeps its input open. */
  reader(talk: CliReply): CliLineReader;
}

/** How to start a CLI for one run. */
export interface NativeLaunch {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Written to standard input, which is then closed unless it is kept open for replies. */
  readonly input?: string;
  /** Keep standard input open for replies to the CLI's questions. */
  readonly keepsInput?: boolean;
}

/** Returns the events of one line. Lines of unknown types have none: every version adds new ones. */
export type CliLineReader = (line: JsonObject) => readonly RunEvent[];

/** Lets a reader reply to the CLI. */
export interface CliReply {
  readonly job: Job;
  send(message: JsonObject): void;
}

/** How long a CLI may run after its result before it is killed. */
const LINGER_MS = 5000;
const NOTE_CHARACTERS = 300;
const LOST = 'The earlier session is lost: this is a new one, which does not know the earlier messages.';

/** Makes a driver of a CLI in its print mode. */
export function nativeDriver(adapter: NativeAdapter): Driver {
  return { ...adapter, edits: true, resumes: true, model: true, run: (job) => runNative(adapter, job) };
}

/**
 * A CLI that does not find its session exits before it starts. It is then started again, without the
 * session.
 */
async function* runNative(adapter: NativeAdapter, job: Job): AsyncGenerator<RunEvent> {
  const { mode } = job.settings;
  if (mode !== undefined && !adapter.modes.includes(mode)) {
    const known = adapter.modes.length === 0 ? 'it has none' : `there are ${adapter.modes.join(', ')}`;
    yield { kind: 'refused', reason: `metadata.mode: ${adapter.name} has no mode ${mode}; ${known}` };
    return;
  }
  const outcome = yield* attempt(adapter, job, undefined);
  if (outcome.hasBegun || job.session === undefined || outcome.end.kind !== 'error' || job.signal.aborted) {
    yield outcome.end;
    return;
  }
  yield (yield* attempt(adapter, { ...job, session: undefined }, LOST)).end;
}

interface Outcome {
  readonly end: RunEvent;
  readonly hasBegun: boolean;
}

/** Starts the CLI once and yields its events. Returns its result after it has exited. */
async function* attempt(adapter: NativeAdapter, job: Job, note: string | undefined): AsyncGenerator<RunEvent, Outcome> {
  const { argv, env, input, keepsInput = false } = adapter.launch(job);
  const child = job.start(argv, env);
  if (input !== undefined) void child.write(input);
  if (!keepsInput) child.endInput();
  const read = adapter.reader({ job, send: (message) => void child.write(`${JSON.stringify(message)}\n`) });
  let hasBegun = false;
  let said: RunEvent | undefined;
  let lingering: NodeJS.Timeout | undefined;
  let isEnded = false;
  for await (const event of lineEvents(child, read)) {
    if (event.kind === 'init') {
      if (!hasBegun) yield await begun(job, event, note);
      hasBegun = true;
    } else if (event.kind === 'done' || event.kind === 'error' || event.kind === 'refused') {
      // The first result wins. It counts when the CLI has exited, which it does when nothing more can come.
      said ??= event;
      child.endInput();
      lingering ??= setTimeout(() => {
        isEnded = true;
        void child.kill();
      }, LINGER_MS);
    } else yield event;
  }
  const end = await endOf(child, argv[0] ?? '', () => said ?? { kind: 'done' });
  clearTimeout(lingering);
  return { end: said !== undefined && (said.kind !== 'done' || isEnded) ? said : end, hasBegun: hasBegun || said?.kind === 'done' };
}

/** Whether this is the requested session: some CLIs silently start another. */
async function begun(
  { session, keepSession }: Job,
  event: Extract<RunEvent, { readonly kind: 'init' }>,
  note: string | undefined,
): Promise<RunEvent> {
  const { sessionId } = event;
  if (sessionId !== undefined) await keepSession(sessionId, true);
  const isOther = session !== undefined && sessionId !== undefined && sessionId !== session;
  const words = note ?? (isOther ? LOST : event.note);
  return words === undefined ? event : { ...event, note: words };
}

/** Reads lines. Text that is not JSON becomes a note, so that warnings of the CLI are visible. */
async function* lineEvents(child: Child, read: CliLineReader): AsyncGenerator<RunEvent> {
  for await (const lines of linesOf(child.stdout)) {
    for (const { text, dropped } of lines) {
      const object = dropped > 0 ? undefined : objectIn(text);
      if (object !== undefined) yield* read(object);
      else if (dropped > 0) yield { kind: 'note', text: `A line of ${text.length + dropped} bytes was too long and is left out.` };
      else if (text.trim() !== '') yield { kind: 'note', text: clip(stripAnsi(text), NOTE_CHARACTERS) };
    }
  }
}

/**
 * `[flag, value]` if there is a value. A value that begins with a dash is left out: a CLI could take
 * it for another option. None of ours does, but a session's id comes from the program itself.
 */
export function option(flag: string, value: string | number | undefined): readonly string[] {
  return value === undefined || String(value).startsWith('-') ? [] : [flag, String(value)];
}
