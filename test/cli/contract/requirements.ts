import { it } from 'vitest';

export interface Requirement {
  readonly id: string;
  readonly tier: 1 | 2 | 3;
  readonly text: string;
  /** Why no test exercises it: it does not apply to this tool, or is not built. */
  readonly untested?: { readonly status: 'na' | 'not_measured'; readonly note: string };
}

/** The registry of the A2A CLI specification v0.2, revision 2026-08-17 (§9 to §11), in our own words. */
const ROWS: readonly (readonly [tier: 1 | 2 | 3, area: string, number: string, text: string, untested?: Requirement['untested']])[] = [
  [1, 'CARD_GET', '001', 'card get resolves a host, a full URL and a file, parses the card and chooses the transport by it'],
  [1, 'SEND', '001', 'send starts an interaction and prints the reply'],
  [1, 'SEND', '002', 'send waits by default; --async returns the ids at once'],
  [1, 'SEND', '003', '--stream consumes the stream; without streams, or with one message, it neither hangs nor crashes'],
  [1, 'SEND', '004', 'text, data and file parts of every artifact are rendered'],
  [1, 'SEND', '005', '--media-type binds to the part before it; types are inferred only where it is absent'],
  [1, 'SEND', '006', 'parts arrive in the order in which they were typed; --data - reads standard input'],
  [1, 'TASK_GET', '001', 'task get shows state, artifacts and, on request, history; JSON is the unmodified Task'],
  [1, 'TASK_CANCEL', '001', 'task cancel cancels, can be repeated, prints the state; a finished task is the protocol’s error'],
  [1, 'INTERACT', '001', '--context-id puts a new task under that context'],
  [1, 'INTERACT', '002', '--task-id continues a task; what the server refuses is shown, and nothing else is started'],
  [1, 'INTERACT', '003', 'a first message carries no id that we made up for the server'],
  [1, 'INTERACT', '004', 'ids, state and the exact command that continues are printed'],
  [1, 'INTERACT', '005', 'nothing about a session is kept'],
  [1, 'TASK_POLL', '001', 'task get once, and task get --wait until terminal or interrupted'],
  [1, 'TASK_POLL', '002', 'interval and timeout are kept, backoff is bounded, Ctrl-C is safe'],
  [1, 'TASK_POLL', '003', 'interrupted states end the wait at once; UNSPECIFIED does not'],
  [1, 'TASK_POLL', '004', 'a stream that dies gives way to polling'],
  [1, 'OUT', '001', 'every task output names context, task and state; stdout is payload, stderr diagnostics'],
  [1, 'OUT', '002', '-o json is one JSON value, the final object'],
  [1, 'OUT', '003', '-o json --stream is JSON lines as they happen, the last one terminal or an error'],
  [1, 'OUT', '004', 'the same server error has the same code over every binding; local codes are the eight'],
  [1, 'OUT', '005', 'text is label lines and closed blocks without control sequences, and never waits for input off a terminal'],
  [1, 'OUT', '006', '--async prints task id and context id'],
  [1, 'EXIT', '001', 'exit codes mean what the table says and agree with the envelope'],
  [1, 'EXIT', '002', 'a task that fails or waits is exit 0, with its state in the output and a warning on stderr'],
  [1, 'AUTH', '001', 'bearer and API key by flag and environment go where the card’s scheme says'],
  [1, 'AUTH', '002', 'each credential flag has its variable, help warns of the process table, flags win'],
  [1, 'AUTH', '003', 'a credential with --insecure warns'],
  [1, 'AUTH', '004', 'no diagnostics show a secret'],
  [1, 'TX', '001', 'the transport comes from the card, in its order'],
  [1, 'TX', '002', 'the first supported entry wins; --transport is honoured in order'],
  [1, 'TX', '003', 'the interface’s tenant goes into every request, and into none without one'],
  [1, 'VER', '001', 'A2A-Version is on every request, 1.x unless opted out of, never silently lower'],
  [1, 'DEFAULT', '001', 'the six defaults are shipped, shown in help and can be overridden'],
  [1, 'CONFIG', '001', 'what is kept lies at a standard path, 0600 if secret, visible and editable, without session ids'],
  [1, 'CLI', '001', 'help and version print and exit 0; help shows the defaults'],
  [1, 'SKILL', '001', 'at most one skill, generic and short'],
  [1, 'SKILL', '002', 'the skill has no normative text'],
  [2, 'CARD_GET', '002', 'card get --validate checks the card against the schema'],
  [2, 'TASK_LIST', '001', 'task list pages by cursor and filters by status and context'],
  [2, 'TASK_SUBSCRIBE', '001', 'task subscribe attaches to a task’s stream'],
  [2, 'TASK_SUBSCRIBE', '002', 'a cut subscription is taken up by subscribing again'],
  [2, 'AUTH', '005', 'auth login by device code'],
  [2, 'AUTH', '006', 'auth login by client credentials'],
  [2, 'AUTH', '007', 'tokens are kept securely and attached later'],
  [2, 'TX', '004', 'at least two transports work and can be chosen'],
  [2, 'VER', '003', 'the card’s capability is checked before streaming, push and extended card'],
  [2, 'CONFIG', '002', 'five levels of precedence, scoping per agent, config show with value and source'],
  [2, 'DOWNLOAD', '001', 'task download writes artifacts to disk'],
  [2, 'OUT', '007', '--debug logs the raw wire messages, masked'],
  [2, 'CONFORM', '001', 'conformance smoke-tests a live agent'],
  [2, 'CLI', '002', 'completion prints a script'],
  [2, 'PUSH', '001', 'push configurations can be created, got, listed and deleted'],
  [3, 'CARD_GET', '003', 'the extended card, only by a scheme that the card declares'],
  [3, 'CARD_GET', '004', 'signatures are reported as verified, unverifiable or absent'],
  [3, 'CARD_GET', '005', 'a catalog’s entry is taken wherever a card is'],
  [3, 'PUSH', '002', 'a local webhook receives push notifications'],
  [3, 'CHAT', '001', 'chat carries the context, and the task while it waits'],
  [3, 'TX', '005', 'gRPC', { status: 'not_measured', note: 'gRPC is not spoken yet.' }],
  [3, 'AUTH', '008', 'a credential goes only to a card that declares a scheme for its kind'],
  [3, 'AUTH', '009', 'mutual TLS'],
  [3, 'AUTH', '010', 'OpenID Connect'],
  [3, 'AUTH', '011', 'a task’s AUTH_REQUIRED can be resolved'],
  [3, 'DEMO_SERVER', '001', 'a practice agent'],
  [3, 'VER', '002', 'the extensions that a server requires and the tool supports are declared'],
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

/** Programs are started one after the other, on machines that may have other things to do. */
const TIMEOUT_MS = 240_000;

/** A test of one requirement. The report is made from these names: what no test exercises can't be claimed. */
export function verifies(id: string, what: string, body: () => Promise<void> | void): void {
  const requirement = REQUIREMENTS.find((known) => known.id === id);
  if (requirement === undefined || requirement.untested !== undefined) throw new Error(`${id} is no requirement that can be tested`);
  it(`${id}: ${what}`, body, TIMEOUT_MS);
}
