import { it } from 'vitest';

export interface Requirement {
  readonly id: string;
  readonly tier: 1 | 2 | 3;
  /** The sections of the specification that govern it. */
  readonly clause: string;
  readonly text: string;
  /** What is known to be missing. Such a requirement fails, whatever its tests say. */
  readonly missing?: string;
}

/** The registry of the A2A CLI specification v0.2, revision 2026-08-17, in our own words. */
const ROWS: readonly (readonly [tier: 1 | 2 | 3, id: string, clause: string, text: string, missing?: string])[] = [
  [1, 'CARD_GET_001', '§10.1, §13', 'card get resolves a host, a full URL and a file, parses the card and chooses the transport from it'],
  [1, 'SEND_001', '§10.2', 'send starts an interaction and prints the reply'],
  [1, 'SEND_002', '§10.2, §6.5', 'send waits by default; --async returns the ids at once'],
  [
    1,
    'SEND_003',
    '§10.2, §9.2',
    '--stream consumes the stream; an agent without streams, or with one message, makes it neither hang nor crash',
  ],
  [1, 'SEND_004', '§10.2', 'text, data and file parts of every artifact are rendered'],
  [1, 'SEND_005', '§10.2', '--media-type binds to the part before it; without it the type is inferred'],
  [1, 'SEND_006', '§10.2', 'parts arrive in the order of the flags; --data - reads standard input'],
  [1, 'TASK_GET_001', '§10.3', 'task get shows state, artifacts and, on request, history; JSON is the unmodified Task'],
  [1, 'TASK_CANCEL_001', '§10.4', 'task cancel cancels, can be repeated, prints the state; a finished task gives the protocol’s error'],
  [1, 'INTERACT_001', '§8.1', '--context-id creates the new task in that context'],
  [1, 'INTERACT_002', '§8.1', '--task-id continues a task; an error of the server is shown, and no other task is started'],
  [1, 'INTERACT_003', '§4.1, §4', 'a first message has no task id or context id'],
  [1, 'INTERACT_004', '§8.2', 'ids, state and the exact command that continues the task are printed'],
  [1, 'INTERACT_005', '§6.3, §4.1, §8.3', 'no session state is stored'],
  [1, 'TASK_POLL_001', '§9.3', 'task get reads once; task get --wait reads until the state is terminal or interrupted'],
  [1, 'TASK_POLL_002', '§9.3', 'interval and timeout are respected, backoff is bounded, Ctrl-C is safe'],
  [1, 'TASK_POLL_003', '§9.1, §9.3', 'interrupted states end the wait at once; UNSPECIFIED does not'],
  [1, 'TASK_POLL_004', '§9.3', 'polling replaces a stream that breaks'],
  [1, 'OUT_001', '§11.1, §11.5, §8.2', 'every task output names context, task and state; stdout is payload, stderr diagnostics'],
  [1, 'OUT_002', '§11.3, App. B', '-o json is one JSON value, the final object'],
  [1, 'OUT_003', '§11.3, §11.4, App. B', '-o json --stream prints a JSON line per event; the last one is a terminal state or an error'],
  [
    1,
    'OUT_004',
    '§11.4, App. B, App. D',
    'the same server error has the same code over every binding; local errors have one of the eight codes',
  ],
  [
    1,
    'OUT_005',
    '§11.2, §6.1',
    'text output is label lines and closed blocks without control sequences, and never waits for input without a terminal',
  ],
  [1, 'OUT_006', '§11.5', '--async prints task id and context id'],
  [1, 'EXIT_001', '§11.6, App. D', 'exit codes follow the table and agree with the error document'],
  [1, 'EXIT_002', '§6.6, §11.6', 'a failed or waiting task exits with 0, prints its state, and warns on stderr'],
  [1, 'AUTH_001', '§12.1', 'bearer token and API key, by flag or environment, are sent where the card’s scheme says'],
  [1, 'AUTH_002', '§12.1, §6.5', 'each credential flag has a variable, help warns about the process table, flags win'],
  [1, 'AUTH_003', '§12.1, §6.5', 'a credential with --insecure warns'],
  [1, 'AUTH_004', '§12.1, §7.2', 'no diagnostics show a secret'],
  [1, 'TX_001', '§13.1', 'the transport comes from the card, in its order'],
  [1, 'TX_002', '§13.1, §6.5', 'the first supported entry wins; --transport is honoured in order'],
  [1, 'TX_003', '§13.1', 'the interface’s tenant is in every request; without a tenant, in none'],
  [1, 'VER_001', '§13.2', 'every request has A2A-Version, 1.x unless the user chooses another, never silently lower'],
  [1, 'DEFAULT_001', '§6.5', 'the six defaults hold, are shown in help and can be overridden'],
  [1, 'CONFIG_001', '§8.3', 'stored files are at a standard path, with mode 0600 if secret, readable and editable, without session ids'],
  [1, 'CLI_001', '§7.1, §7.2, §6.5', 'help and version print and exit 0; help shows the defaults'],
  [1, 'SKILL_001', '§14.1, §14.2', 'at most one skill, generic and short'],
  [1, 'SKILL_002', '§14.3', 'the skill has no normative text'],
  [2, 'CARD_GET_002', '§10.1', 'card get --validate checks the card against the schema'],
  [2, 'TASK_LIST_001', '§7.1, App. A', 'task list pages by cursor and filters by status and context'],
  [2, 'TASK_SUBSCRIBE_001', '§7.1, §9.2', 'task subscribe attaches to a task’s stream'],
  [2, 'TASK_SUBSCRIBE_002', '§9.4, §9.2', 'a cut subscription is resumed by subscribing again'],
  [2, 'AUTH_005', '§12.2', 'auth login by device code'],
  [2, 'AUTH_006', '§12.2', 'auth login by client credentials'],
  [2, 'AUTH_007', '§12.2', 'tokens are stored securely and used later'],
  [2, 'TX_004', '§13.1', 'at least two transports work and can be chosen'],
  [2, 'VER_003', '§13.3', 'the card’s capability is checked before streaming, push and extended card'],
  [2, 'CONFIG_002', '§8.3', 'five levels of precedence, scoping per agent, config show with value and source'],
  [2, 'DOWNLOAD_001', '§7.1', 'task download writes artifacts to disk'],
  [2, 'OUT_007', '§7.2', '--debug logs the raw wire messages, masked'],
  [2, 'CONFORM_001', '§7.1', 'conformance smoke-tests a live agent'],
  [2, 'CLI_002', '§7.1', 'completion prints a script'],
  [2, 'PUSH_001', '§7.1, App. A', 'push configurations can be created, read, listed and deleted'],
  [3, 'CARD_GET_003', '§10.1, §12.4', 'the extended card, only by a scheme that the card declares'],
  [3, 'CARD_GET_004', '§10.1', 'signatures are reported as verified, unverifiable or absent'],
  [3, 'CARD_GET_005', '§10.1', 'a catalog entry is accepted in place of a card'],
  [3, 'PUSH_002', '§9.2', 'a local webhook receives push notifications'],
  [3, 'CHAT_001', '§8.1, §7.1', 'chat keeps the context, and the task while the task waits'],
  [3, 'TX_005', '§13.1', 'gRPC'],
  [3, 'AUTH_008', '§12.4', 'a credential is sent only if the card declares a scheme of its kind'],
  [3, 'AUTH_009', '§12.3', 'mutual TLS'],
  [3, 'AUTH_010', '§12.3', 'OpenID Connect'],
  [3, 'AUTH_011', '§12.3', 'a task’s AUTH_REQUIRED can be resolved'],
  [3, 'DEMO_SERVER_001', '§7.1, §3', 'a practice agent'],
  [3, 'VER_002', '§13.3, A2A §4.6', 'requests declare the extensions that the server requires and the tool supports'],
];

export const REQUIREMENTS: readonly Requirement[] = ROWS.map(([tier, id, clause, text, missing]) => ({
  id: `A2ACLI_${id}`,
  tier,
  clause,
  text,
  ...(missing === undefined ? {} : { missing }),
}));

export function areaOf(id: string): string {
  return id.replace(/^A2ACLI_/, '').replace(/_\d+$/, '');
}

/** Programs are started one after the other, on machines that may have other things to do. */
const TIMEOUT_MS = 240_000;

/** A positive case: the program does what the requirement asks. The report is made from these names. */
export function verifies(id: string, what: string, body: () => Promise<void> | void): void {
  it(`${known(id)}: ${what}`, body, TIMEOUT_MS);
}

/** A negative case: what the requirement excludes does not happen. A requirement passes only with cases of both kinds. */
export function excludes(id: string, what: string, body: () => Promise<void> | void): void {
  it(`${known(id)} (negative): ${what}`, body, TIMEOUT_MS);
}

function known(id: string): string {
  if (!REQUIREMENTS.some((requirement) => requirement.id === id)) throw new Error(`${id} is no requirement`);
  return id;
}
