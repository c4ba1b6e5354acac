import { CliError } from '../command.ts';
import { missingPackage } from './missing-package.ts';
import { plain } from './plain-text.ts';
import type { Secrets } from './secrets.ts';

/** The error of the A2A CLI specification §6, as it is printed. */
export interface ReportedError {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly a2aCode: number | string | null;
}

/** How errors are printed. */
export interface ErrorStyle {
  /** Print the envelope on standard output, in place of the result. Otherwise `Error:`, `Code:` and `Hint:` lines on standard error. */
  readonly json: boolean;
  readonly secrets?: Secrets | undefined;
}

/** Prints an error, in the one format of every command, and returns the exit code. */
export async function printError(thrown: unknown, { json, secrets }: ErrorStyle): Promise<number> {
  const error = thrown instanceof CliError ? thrown : (missingPackage(thrown) ?? new CliError(messageOf(thrown)));
  const reported = await reportedError(error, secrets);
  if (json) process.stdout.write(`${JSON.stringify({ error: reported })}\n`);
  else process.stderr.write(labelled(reported));
  return error.exit;
}

/** Masks the texts before they become JSON: a secret such as `null` must not damage the document. */
export async function reportedError(error: CliError, secrets?: Secrets): Promise<ReportedError> {
  const mask = secrets?.mask ?? ((text: string) => text);
  const hint = await hintOf(error);
  return { code: error.code, message: mask(error.message), hint: hint === undefined ? null : mask(hint), a2aCode: error.a2aCode };
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

export function labelled({ message, code, hint }: ReportedError): string {
  const line = (label: string, text: string): string => `${label}: ${plain(text).replaceAll('\n', ' ')}\n`;
  return line('Error', message) + line('Code', code) + (hint === null ? '' : line('Hint', hint));
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
