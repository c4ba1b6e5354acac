import type { AgentCard } from '#protocol';
import type { Command } from '../command.ts';
import { CliError } from '../command.ts';
import { printJson } from '../contract/results.ts';
import type { Session } from '../contract/session.ts';
import { contractCommand } from '../contract/session.ts';
import { GLOBALS, STREAM } from '../flags/globals.ts';
import { switchOf } from '../flags/parse.ts';
import { EXITS } from '../task/exits.ts';
import type { FoundCard } from '../wire/card-file.ts';
import { cardFor, connect, wiresFor } from '../wire/connect.ts';
import { withAgent } from './agent-arg.ts';
import { signatureOf } from './signature.ts';
import { cardText } from './text.ts';
import { checkCard } from './validate.ts';

export const getCommand: Command = contractCommand(
  {
    name: 'card get',
    summary: 'print the card of an agent.',
    args: [{ name: 'AGENT', optional: true }],
    flags: [
      { name: 'validate', kind: 'switch', doc: 'Check it against the schema of A2A, and fail if it is not valid.' },
      { name: 'extended', kind: 'switch', doc: 'The card for those who show who they are.' },
      { name: 'jwks', kind: 'text', value: 'FILE|URL', doc: 'Keys that you trust to sign it.' },
      STREAM,
    ],
    globals: GLOBALS,
    details:
      'AGENT is short for --agent-card. Says whether the card is signed: verified, unverifiable or absent; with -o json on standard error.',
    examples: ['parley card get agents.example.org', 'parley card get -a ./agent-card.json --validate -o json'],
    exits: EXITS,
  },
  async (session) => {
    const wires = await wiresFor(session);
    const found = await cardFor(withAgent(session), wires);
    if (switchOf(session.parsed, 'validate')) checkCard(found);
    if (switchOf(session.parsed, 'extended')) return await extended(withAgent(session), found);
    const signature = await signatureOf(session, found, wires.bareFetch);
    if (session.json) {
      session.note(`signature: ${signature}\n`);
      printJson(session, found.raw);
    } else session.out(cardText(found.card, { signature, source: found.url, verbose: session.verbose }));
    return 0;
  },
);

/** Only if the card says there is one, and only by a scheme that it declares (A2ACLI_CARD_GET_003, A2ACLI_VER_003). */
async function extended(session: Session, { card }: FoundCard): Promise<number> {
  if (card.capabilities.extendedAgentCard !== true) {
    throw new CliError(`${card.name} has no extended card`, {
      code: 'UnsupportedOperationError',
      hint: 'leave out --extended',
    });
  }
  if (Object.keys(card.securitySchemes ?? {}).length === 0) {
    session.note('warning: the card declares no scheme; no credential is sent\n');
  }
  const connection = await connect(session);
  const found: AgentCard = await connection.call(() => connection.service.extendedCard({}, connection.ctx()));
  if (session.json) printJson(session, connection.raws.json('extendedCard.result', found));
  else session.out(cardText(found, { signature: undefined, source: connection.iface.url, verbose: session.verbose }));
  return 0;
}
