import { bindingWords } from '#bindings';
import { usage } from '../command.ts';
import { CONTEXT_ID, GLOBALS, TASK_ID } from '../flags/globals.ts';
import type { ParsedFlags } from '../flags/parse.ts';
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

/** The global flags that `ask` and `chat` share with the commands of the A2A CLI specification. */
export const WIRE_FLAGS: readonly Flag[] = GLOBALS.filter(({ name }) => SHARED.includes(name));

/** `--agent-card` and `--output`, as in the A2A CLI specification. */
export const AGENT_FLAGS: readonly Flag[] = GLOBALS.filter(({ name }) => name === 'agent-card' || name === 'output');

/** Reads `URL TEXT…` or `-a URL TEXT…`. */
export function targetIn(parsed: ParsedFlags): { readonly target: string; readonly more: readonly string[] } {
  const named = textOf(parsed, 'agent-card');
  const [first, ...more] = argumentsOf(parsed);
  if (named !== undefined) return { target: named, more: first === undefined ? [] : [first, ...more] };
  if (first === undefined) throw usage('the URL of the agent is missing', `example: parley ${parsed.spec.name} localhost:41242`);
  return { target: first, more };
}

export function wantsOutput({ parsed, settings }: RunContext): boolean {
  return switchOf(parsed, 'json') || settings.text('output') === 'json';
}

export const TALK_FLAGS: readonly Flag[] = [
  { name: 'file', short: 'f', kind: 'list', value: 'PATH|URL', doc: 'Send this file along.' },
  { name: 'skill', kind: 'text', value: 'NAME', doc: "Use this skill of the agent's card (metadata.skillId)." },
  { name: 'save', short: 'O', kind: 'text', value: 'DIR', doc: 'Write the files that the agent makes into this folder.' },
  { name: 'force', kind: 'switch', doc: 'Overwrite files that are there.' },
  { name: 'answer', kind: 'list', value: 'TEXT', doc: "Answer the agent's next question with this, instead of asking you." },
  { name: 'yes', short: 'y', kind: 'switch', doc: 'Approve whatever the agent asks for, once each time.' },
  { name: 'dialect', kind: 'text', value: 'ID', doc: 'Speak this dialect, and find nothing out (parley translate --list).' },
  { name: 'transport', kind: 'text', value: 'BINDING', doc: `Only this binding: ${bindingWords()}.` },
  CONTEXT_ID,
  TASK_ID,
];
