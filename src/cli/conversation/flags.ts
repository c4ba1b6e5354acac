import { usage } from '../command.ts';
import { CONTEXT_ID, GLOBALS, TASK_ID } from '../flags/globals.ts';
import type { Parsed } from '../flags/parse.ts';
import { argumentsOf, switchOf, textOf } from '../flags/parse.ts';
import type { Flag } from '../flags/spec.ts';
import type { RunContext } from '../run-context.ts';

const SHARED = [
  'bearer',
  'api-key',
  'basic',
  'svc-param',
  'extension',
  'timeout',
  'debug',
  'insecure',
  'ca',
  'cert',
  'cert-key',
  'trust-origin',
  'config',
];

/** What people's commands share with the contract: who you are, and how the connection is made. */
export const WIRE_FLAGS: readonly Flag[] = GLOBALS.filter(({ name }) => SHARED.includes(name));

/** The agent, and the format, spelled as the contract's commands spell them. */
export const AGENT_FLAGS: readonly Flag[] = GLOBALS.filter(({ name }) => name === 'agent-card' || name === 'output');

/** `URL TEXT…`, or `-a URL TEXT…`. */
export function targetIn(parsed: Parsed): { readonly target: string; readonly more: readonly string[] } {
  const named = textOf(parsed, 'agent-card');
  const [first, ...more] = argumentsOf(parsed);
  if (named !== undefined) return { target: named, more: first === undefined ? [] : [first, ...more] };
  if (first === undefined) throw usage('which agent? URL is missing', `as: parley ${parsed.spec.name} localhost:41242`);
  return { target: first, more };
}

export function wantsOutput({ parsed, settings }: RunContext): boolean {
  return switchOf(parsed, 'json') || settings.text('output') === 'json';
}

export const TALK_FLAGS: readonly Flag[] = [
  { name: 'file', short: 'f', kind: 'list', value: 'PATH|URL', doc: 'Send this file along.' },
  { name: 'save', short: 'O', kind: 'text', value: 'DIR', doc: 'Write the files that the agent makes into this folder.' },
  { name: 'force', kind: 'switch', doc: 'Overwrite files that are there.' },
  { name: 'answer', kind: 'list', value: 'TEXT', doc: "Answer the agent's next question with this, instead of asking you." },
  { name: 'yes', short: 'y', kind: 'switch', doc: 'Approve whatever the agent asks for, once each time.' },
  { name: 'dialect', kind: 'text', value: 'ID', doc: 'Speak this dialect, and find nothing out (parley translate --list).' },
  { name: 'transport', kind: 'text', value: 'BINDING', doc: 'Only this binding: JSONRPC or HTTP+JSON.' },
  CONTEXT_ID,
  TASK_ID,
];
