import type { FoundAgentCard } from '#client';
import type { AgentCard, Json } from '#protocol';
import { connect, findCard } from '../agent/connect.ts';
import type { Command } from '../command.ts';
import { CliError, NOT_DECLARED } from '../command.ts';
import { printJson } from '../contract/results.ts';
import type { ContractSession } from '../contract/session.ts';
import { contractCommand } from '../contract/session.ts';
import { GLOBALS, STREAM } from '../flags/globals.ts';
import { switchOf } from '../flags/parse.ts';
import { EXITS } from '../task/exits.ts';
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
      { name: 'extended', kind: 'switch', doc: 'The card for authenticated callers.' },
      { name: 'jwks', kind: 'text', value: 'FILE|URL', doc: 'Keys that may sign it.' },
      STREAM,
    ],
    globals: GLOBALS,
    details:
      'AGENT is short for --agent-card. Says whether the card is signed: verified, unverifiable or absent; with -o json on standard error.',
    examples: ['parley card get agents.example.org', 'parley card get -a ./agent-card.json --validate -o json'],
    exits: EXITS,
  },
  async (session) => {
    const found = await findCard(withAgent(session));
    if (switchOf(session.parsed, 'validate')) checkCard(found);
    if (switchOf(session.parsed, 'extended')) return await extended(withAgent(session), found);
    const signature = await signatureOf(session, found);
    if (session.json) {
      session.note(`signature: ${signature}\n`);
      printJson(session, found.raw as Json);
    } else session.out(cardText(found.card, { signature, source: found.url, verbose: session.verbose }));
    return 0;
  },
);

/** Calls only if the card declares an extended card, and only with a credential for one of its schemes (A2ACLI_CARD_GET_003, A2ACLI_VER_003). */
async function extended(session: ContractSession, { card }: FoundAgentCard): Promise<number> {
  if (card.capabilities.extendedAgentCard !== true) {
    throw new CliError(`${card.name} has no extended card`, {
      code: NOT_DECLARED,
      hint: 'leave out --extended',
    });
  }
  if (Object.keys(card.securitySchemes ?? {}).length === 0) {
    throw new CliError(`the card of ${card.name} declares no security scheme, and an extended card is read only with one`, {
      code: NOT_DECLARED,
      hint: 'leave out --extended, or tell the operator of the agent',
    });
  }
  const connection = await connect(session);
  if (!connection.call.authenticated) {
    throw new CliError(`the extended card of ${card.name} needs credentials, and none that fit were given`, {
      code: 'A2ACLI_ERR_CREDENTIALS_MISSING',
      hint: `its schemes are ${Object.keys(card.securitySchemes ?? {}).join(', ')}; set A2ACLI_BEARER or A2ACLI_API_KEY, or: parley auth login ${connection.agent}`,
      exit: 4,
    });
  }
  const found: AgentCard = await connection.run(() => connection.service.extendedCard({}, connection.ctx()));
  if (session.json) printJson(session, connection.answers.json('extendedCard.result', found));
  else session.out(cardText(found, { signature: undefined, source: connection.url, verbose: session.verbose }));
  return 0;
}
