import { stripAnsi } from '../process/ansi.ts';
import type { Child, Exit } from '../process/child.ts';
import { clip } from './clip.ts';
import type { RunEvent } from './events.ts';

const REASON_CHARACTERS = 600;

/**
 * The error for an exit, or undefined for a normal one. The text `agent exited with code N` is that of
 * coding-agent-a2a.
 */
export function failureOf(exit: Exit, program: string, errors: string): string | undefined {
  const said = clip(stripAnsi(errors).trim().slice(-REASON_CHARACTERS), REASON_CHARACTERS);
  const why = said === '' ? '' : `: ${said}`;
  switch (exit.kind) {
    case 'exited':
      return exit.code === 0 ? undefined : `agent exited with code ${exit.code}${why}`;
    case 'signaled':
      return `agent was ended by ${exit.signal}${why}`;
    case 'unstartable':
      return UNSTARTABLE.get(exit.code)?.(program) ?? `${program} could not be started: ${exit.message}`;
  }
}

const UNSTARTABLE: ReadonlyMap<string, (program: string) => string> = new Map<string, (program: string) => string>([
  ['ENOENT', (program) => `${program} is not installed here, or not in the search path`],
  ['EACCES', (program) => `${program} may not be executed`],
  ['E2BIG', (program) => `the message is too long to be an argument of ${program}; it has to go by standard input`],
  ['EMFILE', () => 'too many files are open on this machine; try again later'],
  ['EAGAIN', () => 'too many processes run on this machine; try again later'],
]);

/**
 * A sandboxed program is started by another one, which reports in its own words that it could not find
 * it.
 */
const NOT_FOUND = /^(?:bwrap: execvp|prlimit: failed to execute) (.+?): No such file or directory/m;

/** Waits for the exit. Returns an error event, or the event that the caller gives for a normal exit. */
export async function endOf(child: Child, program: string, good: () => RunEvent): Promise<RunEvent> {
  const exit = await child.exit;
  const errors = child.lastErrors();
  if (NOT_FOUND.test(errors)) return { kind: 'error', message: `${program} is not installed here, or not in the search path` };
  const message = failureOf(exit, program, errors);
  return message === undefined ? good() : { kind: 'error', message };
}
