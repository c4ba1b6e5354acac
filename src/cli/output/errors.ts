import { CliError } from '../command.ts';
import { missingPackage } from './missing-package.ts';
import { plain } from './plain-text.ts';
import type { Secrets } from './secrets.ts';

/** The error envelope of the A2A CLI specification §6. */
export function envelope(error: CliError, hint: string | undefined): string {
  const { code, message, a2aCode } = error;
  return `${JSON.stringify({ error: { code, message, hint: hint ?? null, a2aCode } })}\n`;
}

/** How errors are printed. */
export interface ErrorStyle {
  /** Print the envelope on standard output, in place of the result. */
  readonly json: boolean;
  /** Print `Error:`, `Code:` and `Hint:` lines. Otherwise: a message for people. */
  readonly contract: boolean;
  readonly secrets?: Secrets | undefined;
}

/** Prints an error and returns the exit code. */
export async function printError(thrown: unknown, { json, contract, secrets }: ErrorStyle): Promise<number> {
  const error = thrown instanceof CliError ? thrown : (missingPackage(thrown) ?? new CliError(messageOf(thrown)));
  const hint = await hintOf(error);
  const mask = secrets?.mask ?? ((text: string) => text);
  if (json) process.stdout.write(mask(envelope(error, hint)));
  else if (contract) process.stderr.write(mask(labelled(error, hint)));
  else process.stderr.write(mask(plain(`parley: ${error.message}\n${hint === undefined ? '' : `  ${hint}\n`}`)));
  return error.exit;
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function labelled(error: CliError, hint: string | undefined): string {
  const line = (label: string, text: string): string => `${label}: ${plain(text).replaceAll('\n', ' ')}\n`;
  return line('Error', error.message) + line('Code', error.code) + (hint === undefined ? '' : line('Hint', hint));
}

/** What to type next, with the name that was probably meant. Looked for only now: nothing else needs the words. */
async function hintOf({ meant, hint }: CliError): Promise<string | undefined> {
  if (meant === undefined) return hint;
  const { suggest } = await import('#server');
  const near = suggest(meant.word, meant.known);
  if (near === undefined) return hint;
  return `did you mean ${near}?${hint === undefined ? '' : ` ${hint}`}`;
}

/** Whether the caller wants errors as JSON, even if the rest of the command line is wrong. */
export function wantsJson(args: readonly string[], env: NodeJS.ProcessEnv): boolean {
  const end = args.indexOf('--');
  const flags = end === -1 ? args : args.slice(0, end);
  const at = flags.findLastIndex((word) => /^(?:-o|--output)(?:$|=)|^-o(?:json|text)$/.test(word));
  const value = at === -1 ? env['A2ACLI_OUTPUT'] : (/(?:=|^-o)(json|text)$/.exec(flags[at] ?? '')?.[1] ?? flags[at + 1]);
  return value === 'json' || flags.includes('--json');
}
