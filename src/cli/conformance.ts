import { STRICT_VERSION } from '#client/strict';
import { kept } from '#protocol';
import { connect, strictOptions } from './agent/connect.ts';
import { asCliError } from './agent/errors.ts';
import { withAgent } from './card/agent-arg.ts';
import type { Command } from './command.ts';
import { CliError, usage } from './command.ts';
import type { Check, CheckContext, CheckResult } from './conformance/checks.ts';
import { CHECKS } from './conformance/checks.ts';
import { runKit } from './conformance/kit.ts';
import { printJson } from './contract/results.ts';
import type { ContractSession } from './contract/session.ts';
import { contractCommand } from './contract/session.ts';
import { GLOBALS } from './flags/globals.ts';
import { textOf } from './flags/parse.ts';
import { labelled, reportedError } from './output/errors.ts';
import { field } from './output/labels.ts';

export const conformanceCommand: Command = contractCommand(
  {
    name: 'conformance',
    summary: 'smoke-test a live agent against the A2A Technology Compatibility Kit.',
    args: [{ name: 'AGENT', optional: true }],
    flags: [{ name: 'tck', kind: 'text', value: 'DIR', doc: "Run the whole kit too, out of a checkout of a2aproject's a2a-tck." }],
    globals: GLOBALS,
    details: `AGENT is short for --agent-card. ${CHECKS.length} checks under the kit's own requirement ids: the card, messages, tasks, lists, streams, errors and versions, in the binding
that --transport prefers. Two harmless messages are sent. It is a smoke test: passing it says that the agent is worth the whole kit.`,
    examples: ['parley conformance -a localhost:41242', 'parley conformance -a localhost:41242 --transport rest -o json'],
    exits:
      '0 every MUST is met or does not apply; 1 one is not met, or the tool failed; 2 wrong call; 3 not found or not reached; 4 credentials; 5 out of time.',
  },
  async (given) => {
    const session = withAgent(given);
    const bench = await benchFor(session);
    const rows: { readonly check: Check; readonly verdict: CheckResult }[] = [];
    for (const check of CHECKS) {
      const verdict = await verdictOf(check, bench);
      rows.push({ check, verdict });
      if (!session.json) session.out(field(check.id, lineOf(check, verdict)));
    }
    const { url, found } = bench.connection;
    const folder = textOf(session.parsed, 'tck');
    const kit = folder === undefined ? 0 : await runKit(folder, new URL(found?.url ?? url).origin);
    return await report(session, bench, { rows, kit });
  },
);

interface Checked {
  readonly rows: readonly { readonly check: Check; readonly verdict: CheckResult }[];
  /** The exit code of the whole kit. */
  readonly kit: number;
}

/** Prints the counts, once, and an error if a MUST is not met: the exit code and the error agree (A2ACLI_EXIT_001). */
async function report(session: ContractSession, { connection }: CheckContext, { rows, kit }: Checked): Promise<number> {
  const count = (outcome: CheckResult['outcome'], level?: Check['level']): number =>
    rows.filter(({ check, verdict }) => verdict.outcome === outcome && (level === undefined || check.level === level)).length;
  const totals = { pass: count('pass'), fail: count('fail', 'MUST'), warn: count('fail', 'SHOULD'), skip: count('skip') };
  const words = `${totals.pass} passed, ${totals.fail} failed, ${totals.warn} recommendations not followed, ${totals.skip} did not apply`;
  const error = totals.fail === 0 && kit === 0 ? undefined : await reportedError(failure(words, kit), session.secrets);
  const { url, binding, version, found } = connection;
  if (session.json) {
    const results = rows.map(({ check: { id, section, level, title }, verdict }) => ({ id, section, level, title, ...verdict }));
    const about = { agent: found?.card.name ?? '', url, transport: binding, version, totals, results };
    printJson(session, error === undefined ? about : { error: { ...error }, ...about });
  } else {
    session.out(field('Transport', `${binding} ${version} at ${url}`) + field('Result', words));
    if (error !== undefined) session.note(labelled(error));
  }
  return error === undefined ? 0 : 1;
}

function failure(words: string, kit: number): CliError {
  return new CliError(kit === 0 ? `the agent does not conform: ${words}` : `the agent does not pass the whole kit; the checks: ${words}`, {
    code: 'PARLEY_ERR_NOT_CONFORMANT',
    hint: 'the result of each check is on standard output',
  });
}

function lineOf({ title }: Check, verdict: CheckResult): string {
  return verdict.outcome === 'pass' ? `pass, ${title}` : `${verdict.outcome}, ${title}: ${verdict.why}`;
}

/** Connects twice: as the caller asked, and with version 99.0, to see how the agent refuses it. */
async function benchFor(session: ContractSession): Promise<CheckContext> {
  const connection = await connect(session);
  const { found } = connection;
  if (found === undefined) throw usage('conformance needs the card: --endpoint has none', 'example: -a agents.example.org');
  const { settings } = session;
  const flag = settings.find('a2a-version')?.flag ?? GLOBALS.find(({ name }) => name === 'a2a-version');
  const inFuture: ContractSession = {
    ...session,
    note: () => undefined,
    settings: {
      ...settings,
      text: (name) => (name === 'a2a-version' ? '99.0' : settings.text(name)),
      find: (name) =>
        name === 'a2a-version' && flag !== undefined ? { flag, values: ['99.0'], source: { kind: 'default' } } : settings.find(name),
    },
  };
  return { found, connection, future: await connect(inFuture), cardHeaders: await headersOf(session, found.url), task: undefined };
}

async function headersOf(session: ContractSession, url: string | undefined): Promise<Headers> {
  if (url === undefined) return new Headers();
  const { fetch = globalThis.fetch, headers = {} } = await strictOptions(session);
  const versioned = { 'A2A-Version': STRICT_VERSION, ...headers };
  const response = await fetch(kept(new Request(url, { headers: versioned, signal: session.signal })));
  await response.body?.cancel();
  return response.headers;
}

/** An unexpected error response fails the check. An unreachable agent ends the run. */
async function verdictOf(check: Check, bench: CheckContext): Promise<CheckResult> {
  try {
    return await check.run(bench);
  } catch (thrown) {
    const error = asCliError(thrown, bench.connection.call);
    if (error.exit >= 3) throw error;
    return { outcome: 'fail', why: `${error.code}: ${error.message}` };
  }
}
