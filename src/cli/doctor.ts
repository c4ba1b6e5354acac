import { isClientError } from '#client';
import type { Finding } from '#client/doctor';
import { examine } from '#client/doctor';
import type { Credentials } from '#client/strict';
import { chooseCredentials, fetchWithCredentials } from '#client/strict';
import type { AgentCard, Fetch } from '#protocol';
import { addressOf, withHost } from './agent/address.ts';
import { fetchFor, headersFor, withHeaders } from './agent/client-options.ts';
import { refusePassword } from './agent/target.ts';
import { trustCertificateTo } from './agent/tls.ts';
import type { Command } from './command.ts';
import { CliError, usage } from './command.ts';
import { AGENT_FLAGS, targetIn, WIRE_FLAGS, wantsOutput } from './conversation/flags.ts';
import { exitFor } from './doctor/exit-code.ts';
import { helpFor } from './flags/help.ts';
import { parse, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { localToken } from './local-token.ts';
import { printError, wantsJson } from './output/errors.ts';
import { plain } from './output/plain-text.ts';
import type { RunContext } from './run-context.ts';
import { createRunContext } from './run-context.ts';
import { effectiveDefaults } from './settings/effective-defaults.ts';

const spec: CommandSpec = {
  name: 'doctor',
  summary: 'find out what is wrong with an agent, in plain words.',
  args: [{ name: 'URL', optional: true }],
  flags: [
    ...AGENT_FLAGS,
    {
      name: 'say',
      kind: 'text',
      value: 'TEXT',
      doc: 'Also send this message, and follow its stream. Without it only questions are asked.',
    },
    { name: 'json', kind: 'switch', doc: 'Print one JSON object: url, healthy, findings.' },
  ],
  globals: WIRE_FLAGS,
  details: `Looks for the card at every known place, reads it in every dialect, tries each interface that it lists, and says what is wrong and how it is mended.
--timeout is for each step here (10s).`,
  examples: ['parley doctor localhost:41242', 'parley doctor https://agents.example.org --say hello --json'],
  exits: '0 healthy, warnings included; 1 something is wrong; 2 wrong call; 3 not reached; 4 credentials; 5 it does not answer.',
};

export const doctorCommand: Command = {
  name: 'doctor',
  get help() {
    return helpFor(spec, effectiveDefaults(spec));
  },
  spec,
  run,
};

const STEP_MS = 10_000;

/** Prints findings as they come. They decide about the exit code. */
async function run(args: readonly string[]): Promise<number> {
  const parsed = parse(spec, args);
  const { target, more } = targetIn(parsed);
  if (more.length > 0) throw usage(`there is no place for ${more[0]}`, 'usage: parley doctor URL [OPTIONS]');
  const asked = createRunContext(parsed);
  const url = withHost(target);
  const json = wantsOutput(asked);
  const findings: Finding[] = [];
  try {
    refusePassword(target);
    trustCertificateTo(asked, [addressOf(url)]);
    const fetch = await examinationFetch(asked);
    const signal = new AbortController().signal;
    const timeoutMs = asked.settings.durationMs('timeout') ?? STEP_MS;
    const known = (card: AgentCard): Fetch | undefined => credentialed(fetch, card, credentialsOf(asked, url));
    for await (const finding of examine(url, { fetch, signal, timeoutMs, known, say: textOf(parsed, 'say') })) {
      findings.push(finding);
      if (!json) process.stdout.write(asked.secrets.mask(textFor(finding)));
    }
  } catch (thrown) {
    const error = isClientError(thrown) ? new CliError(thrown.message, { hint: thrown.hint, exit: 2 }) : thrown;
    return await printError(error, { json: wantsJson(args, process.env), secrets: asked.secrets });
  }
  const code = exitFor(findings);
  const mask = (_: string, value: unknown): unknown => (typeof value === 'string' ? asked.secrets.mask(value) : value);
  if (json) process.stdout.write(`${JSON.stringify({ url, healthy: code === 0, findings }, mask)}\n`);
  else process.stdout.write(code === 0 ? 'healthy\n' : 'not healthy\n');
  return code;
}

/** The fetch of the examination: with `--svc-param`, without credentials, which go only where a card asks for them. */
async function examinationFetch(run: RunContext): Promise<Fetch> {
  return withHeaders(await fetchFor(run), headersFor(run));
}

/** The credentials of the flags. For a node on this machine, its own token. */
function credentialsOf({ settings, secrets }: RunContext, url: string): Credentials {
  const bearer = settings.text('bearer') ?? localToken(url);
  secrets.add(bearer);
  return {
    bearer,
    apiKey: settings.text('api-key'),
    basic: settings.text('basic'),
    mtls: settings.text('cert') !== undefined,
  };
}

/** A fetch with the credentials that the card takes. Undefined if they are not sufficient: the server's refusal is the finding then. */
function credentialed(fetch: Fetch, card: AgentCard, credentials: Credentials): Fetch | undefined {
  const choice = chooseCredentials(card, credentials);
  return choice.ok && choice.placed.length > 0 ? fetchWithCredentials(fetch, choice.placed) : undefined;
}

const MARKS: Readonly<Record<Finding['level'], string>> = { ok: 'ok', note: 'note', warning: 'warning', error: 'ERROR' };

/** A finding for people, with its id in brackets. */
function textFor({ level, what, why, fix, id }: Finding): string {
  const lines = [
    `${MARKS[level]}: ${what}`,
    ...(why === undefined ? [] : [`  because: ${why}`]),
    ...(fix === undefined ? [] : [`  try: ${fix}`]),
  ];
  return `${plain(lines.join('\n'))}${level === 'ok' ? '' : ` [${id}]`}\n`;
}
