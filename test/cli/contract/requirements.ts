import { it } from 'vitest';

export interface Requirement {
  readonly id: string;
  readonly tier: 1 | 2 | 3;
  readonly text: string;
  /** Why no test exercises the requirement: it does not apply to this tool, or is not built. */
  readonly untested?: { readonly status: 'na' | 'not_measured'; readonly note: string };
}

/** The registry of the A2A CLI specification v0.2, revision 2026-08-17 (§9 to §11), in our own words. */
const ROWS: readonly (readonly [tier: 1 | 2 | 3, area: string, number: string, text: string, untested?: Requirement['untested']])[] = [
  [1, 'CARD_GET', '001', 'card get resolves a host, a full URL and a file, parses the card and chooses the transport from it'],
  [1, 'SEND', '001', 'send starts an interaction and prints the reply'],
  [1, 'SEND', '002', 'send waits by default; --async returns the ids at once'],
  [1, 'SEND', '003', '--stream consumes the stream; an agent without streams, or with one message, makes it neither hang nor crash'],
  [1, 'SEND', '004', 'text, data and file parts of every artifact are rendered'],
  [1, 'SEND', '005', '--media-type binds to the part before it; without it the type is inferred'],
  [1, 'SEND', '006', 'parts arrive in the order of the flags; --data - reads standard input'],
  [1, 'TASK_GET', '001', 'task get shows state, artifacts and, on request, history; JSON is the unmodified Task'],
  [1, 'TASK_CANCEL', '001', 'task cancel cancels, can be repeated, prints the state; a finished task gives the protocol’s error'],
  [1, 'INTERACT', '001', '--context-id creates the new task in that context'],
  [1, 'INTERACT', '002', '--task-id continues a task; an error of the server is shown, and no other task is started'],
  [1, 'INTERACT', '003', 'a first message has no task id or context id'],
  [1, 'INTERACT', '004', 'ids, state and the exact command that continues the task are printed'],
  [1, 'INTERACT', '005', 'no session state is stored'],
  [1, 'TASK_POLL', '001', 'task get reads once; task get --wait reads until the state is terminal or interrupted'],
  [1, 'TASK_POLL', '002', 'interval and timeout are respected, backoff is bounded, Ctrl-C is safe'],
  [1, 'TASK_POLL', '003', 'interrupted states end the wait at once; UNSPECIFIED does not'],
  [1, 'TASK_POLL', '004', 'polling replaces a stream that breaks'],
  [1, 'OUT', '001', 'every task output names context, task and state; stdout is payload, stderr diagnostics'],
  [1, 'OUT', '002', '-o json is one JSON value, the final object'],
  [1, 'OUT', '003', '-o json --stream prints a JSON line per event; the last one is a terminal state or an error'],
  [1, 'OUT', '004', 'the same server error has the same code over every binding; local errors have one of the eight codes'],
  [1, 'OUT', '005', 'text output is label lines and closed blocks without control sequences, and never waits for input without a terminal'],
  [1, 'OUT', '006', '--async prints task id and context id'],
  [1, 'EXIT', '001', 'exit codes follow the table and agree with the error document'],
  [1, 'EXIT', '002', 'a failed or waiting task exits with 0, prints its state, and warns on stderr'],
  [1, 'AUTH', '001', 'bearer token and API key, by flag or environment, are sent where the card’s scheme says'],
  [1, 'AUTH', '002', 'each credential flag has a variable, help warns about the process table, flags win'],
  [1, 'AUTH', '003', 'a credential with --insecure warns'],
  [1, 'AUTH', '004', 'no diagnostics show a secret'],
  [1, 'TX', '001', 'the transport comes from the card, in its order'],
  [1, 'TX', '002', 'the first supported entry wins; --transport is honoured in order'],
  [1, 'TX', '003', 'the interface’s tenant is in every request; without a tenant, in none'],
  [1, 'VER', '001', 'every request has A2A-Version, 1.x unless the user chooses another, never silently lower'],
  [1, 'DEFAULT', '001', 'the six defaults hold, are shown in help and can be overridden'],
  [1, 'CONFIG', '001', 'stored files are at a standard path, with mode 0600 if secret, readable and editable, without session ids'],
  [1, 'CLI', '001', 'help and version print and exit 0; help shows the defaults'],
  [1, 'SKILL', '001', 'at most one skill, generic and short'],
  [1, 'SKILL', '002', 'the skill has no normative text'],
  [2, 'CARD_GET', '002', 'card get --validate checks the card against the schema'],
  [2, 'TASK_LIST', '001', 'task list pages by cursor and filters by status and context'],
  [2, 'TASK_SUBSCRIBE', '001', 'task subscribe attaches to a task’s stream'],
  [2, 'TASK_SUBSCRIBE', '002', 'a cut subscription is resumed by subscribing again'],
  [2, 'AUTH', '005', 'auth login by device code'],
  [2, 'AUTH', '006', 'auth login by client credentials'],
  [2, 'AUTH', '007', 'tokens are stored securely and used later'],
  [2, 'TX', '004', 'at least two transports work and can be chosen'],
  [2, 'VER', '003', 'the card’s capability is checked before streaming, push and extended card'],
  [2, 'CONFIG', '002', 'five levels of precedence, scoping per agent, config show with value and source'],
  [2, 'DOWNLOAD', '001', 'task download writes artifacts to disk'],
  [2, 'OUT', '007', '--debug logs the raw wire messages, masked'],
  [2, 'CONFORM', '001', 'conformance smoke-tests a live agent'],
  [2, 'CLI', '002', 'completion prints a script'],
  [2, 'PUSH', '001', 'push configurations can be created, read, listed and deleted'],
  [3, 'CARD_GET', '003', 'the extended card, only by a scheme that the card declares'],
  [3, 'CARD_GET', '004', 'signatures are reported as verified, unverifiable or absent'],
  [3, 'CARD_GET', '005', 'a catalog entry is accepted in place of a card'],
  [3, 'PUSH', '002', 'a local webhook receives push notifications'],
  [3, 'CHAT', '001', 'chat keeps the context, and the task while the task waits'],
  [3, 'TX', '005', 'gRPC', { status: 'not_measured', note: 'Parley has no gRPC binding yet.' }],
  [3, 'AUTH', '008', 'a credential is sent only if the card declares a scheme of its kind'],
  [3, 'AUTH', '009', 'mutual TLS'],
  [3, 'AUTH', '010', 'OpenID Connect'],
  [3, 'AUTH', '011', 'a task’s AUTH_REQUIRED can be resolved'],
  [3, 'DEMO_SERVER', '001', 'a practice agent'],
  [3, 'VER', '002', 'requests declare the extensions that the server requires and the tool supports'],
];

export const REQUIREMENTS: readonly Requirement[] = ROWS.map(([tier, area, number, text, untested]) => ({
  id: `A2ACLI_${area}_${number}`,
  tier,
  text,
  ...(untested === undefined ? {} : { untested }),
}));

export function areaOf(id: string): string {
  return id.replace(/^A2ACLI_/, '').replace(/_\d+$/, '');
}

/** Tests start programs one after the other, possibly on a busy machine. */
const TIMEOUT_MS = 240_000;

/** Declares a test of one requirement. The report is generated from the names of these tests. */
export function verifies(id: string, what: string, body: () => Promise<void> | void): void {
  const requirement = REQUIREMENTS.find((known) => known.id === id);
  if (requirement === undefined || requirement.untested !== undefined) throw new Error(`${id} is not a requirement that can be tested`);
  it(`${id}: ${what}`, body, TIMEOUT_MS);
}
