import { bindingWords, findBinding } from '#bindings';
import { STANDARD_BINDINGS } from '#protocol';
import type { Flag } from './spec.ts';

const MISSING = STANDARD_BINDINGS.filter((name) => findBinding(name) === undefined);

/** The options of every command of the A2A CLI specification (§3), followed by a few of our own. */
export const GLOBALS: readonly Flag[] = [
  {
    name: 'agent-card',
    short: 'a',
    kind: 'text',
    value: 'REF',
    env: true,
    doc: 'The agent: a host, the URL or file of its card, or an entry of a catalog. card and task also take an address as their first word.',
  },
  {
    name: 'endpoint',
    short: 'e',
    kind: 'text',
    value: 'URL',
    env: true,
    doc: 'The address of an interface, without a card; needs exactly one --transport.',
  },
  {
    name: 'transport',
    kind: 'list',
    value: 'BINDING',
    env: true,
    default: "the card's order",
    doc: `Preferred binding: ${bindingWords()}.${MISSING.map((name) => ` ${name} is not supported yet.`).join('')}`,
  },
  {
    name: 'a2a-version',
    kind: 'text',
    value: 'VERSION',
    env: true,
    default: '1.0, the highest in common',
    doc: 'A2A version to send with every request. Versions below 1.0 are used only if given here.',
  },
  { name: 'bearer', kind: 'text', value: 'TOKEN', env: true, secret: true, doc: 'Bearer token, sent if the card has a scheme for it.' },
  { name: 'api-key', kind: 'text', value: 'KEY', env: true, secret: true, doc: 'API key, sent if the card has a scheme for it.' },
  {
    name: 'basic',
    kind: 'text',
    value: 'USER:PASSWORD',
    env: true,
    secret: true,
    doc: 'Basic credentials, sent if the card has a scheme for them.',
  },
  { name: 'svc-param', kind: 'list', value: 'NAME:VALUE', doc: 'A parameter for the transport, sent as an HTTP header.' },
  {
    name: 'extension',
    kind: 'list',
    value: 'URI',
    env: true,
    doc: 'A protocol extension to activate, besides those that parley supports.',
  },
  {
    name: 'output',
    short: 'o',
    kind: 'text',
    oneOf: ['text', 'json'],
    env: true,
    default: 'text',
    doc: 'Output format. --json is short for -o json.',
  },
  { name: 'verbose', short: 'v', kind: 'switch', env: true, default: 'concise', doc: 'Print more details.' },
  { name: 'debug', kind: 'switch', env: true, doc: 'Log requests and responses to standard error, without secrets.' },
  {
    name: 'timeout',
    kind: 'text',
    value: 'TIME',
    env: true,
    default: '60s for one call, none for a wait',
    doc: 'Time limit of the command, for example 500ms, 30s or 1m30s.',
  },
  { name: 'insecure', kind: 'switch', env: true, default: 'TLS verified', doc: 'Do not verify TLS certificates. Warns.' },
  { name: 'ca', kind: 'text', value: 'FILE', env: true, doc: 'Certificates (PEM) to trust besides those of the system.' },
  { name: 'cert', kind: 'text', value: 'FILE', env: true, doc: 'Client certificate (PEM), for mutual TLS.' },
  { name: 'cert-key', kind: 'text', value: 'FILE', env: true, doc: 'Private key (PEM) of --cert.' },
  { name: 'trust-origin', kind: 'list', value: 'ORIGIN', env: true, doc: "An origin besides the card's that may receive credentials." },
  { name: 'config', kind: 'text', value: 'FILE', doc: 'Use this dotenv file instead of the nearest .env.' },
];

export const POLL: Flag = {
  name: 'poll-interval',
  kind: 'text',
  value: 'TIME',
  env: true,
  default: '2s',
  doc: 'The pause between polls.',
};
export const STREAM: Flag = { name: 'stream', kind: 'switch', doc: 'Print each event as it comes; with -o json as JSON lines.' };
export const CONTEXT_ID: Flag = {
  name: 'context-id',
  aliases: ['context'],
  kind: 'text',
  value: 'ID',
  env: true,
  doc: 'The context of the message or the tasks.',
};
export const TASK_ID: Flag = { name: 'task-id', kind: 'text', value: 'ID', env: true, doc: 'The task to continue.' };
export const METADATA: Flag = { name: 'metadata', kind: 'text', value: 'JSON', doc: 'A JSON object for the request itself.' };
export const ASYNC: Flag = {
  name: 'async',
  aliases: ['return-immediately', 'no-wait'],
  kind: 'switch',
  env: true,
  doc: 'Do not wait for the result; print the ids.',
};
export const WAIT: Flag = {
  name: 'wait',
  aliases: ['watch'],
  kind: 'switch',
  env: true,
  doc: 'Wait until the task is finished or needs input.',
};

/** Who the caller is to an authorization server, for `auth login`. */
export const CLIENT: readonly Flag[] = [
  { name: 'client-id', kind: 'text', value: 'ID', env: true, doc: 'Who you are to the authorization server. Required.' },
  { name: 'client-secret', kind: 'text', value: 'TEXT', env: true, secret: true, doc: 'For client credentials.' },
];

/** What a receiver of push notifications recognises the agent by. */
export const PUSH_SECRETS: readonly Flag[] = [
  {
    name: 'token',
    kind: 'text',
    value: 'TEXT',
    env: true,
    secret: true,
    doc: 'Comes back with each event, so that the receiver knows it.',
  },
  { name: 'auth-credentials', kind: 'text', value: 'TEXT', env: true, secret: true, doc: 'The credential of --auth-scheme.' },
];

/** Flags that the environment or a file can also set. */
export const CONFIGURABLE: readonly Flag[] = [...GLOBALS, POLL, CONTEXT_ID, TASK_ID, ASYNC, WAIT, ...CLIENT, ...PUSH_SECRETS].filter(
  ({ env }) => env === true,
);
