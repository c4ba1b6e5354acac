import { GLOBALS } from '../flags/globals.ts';
import type { ParsedFlags } from '../flags/parse.ts';
import { isAddress } from './address.ts';

/**
 * Takes `task get URL TASK` for `task get -a URL TASK`: an address before the words that the command takes. Only where the command line has
 * one word more than the command takes, so no word of the A2A CLI specification changes its meaning.
 */
export function withLeadingAgent(parsed: ParsedFlags): ParsedFlags {
  const { spec, given, positionals } = parsed;
  const flag = GLOBALS.find(({ name }) => name === 'agent-card');
  const [first = ''] = positionals;
  const takesMany = spec.args.at(-1)?.many === true;
  const isNamed = given.some((each) => each.flag?.name === 'agent-card');
  if (flag === undefined || isNamed || takesMany || positionals.length !== spec.args.length + 1 || !isAddress(first)) return parsed;
  const at = given.findIndex((each) => each.flag === undefined);
  return { spec, given: given.with(at, { flag, value: first }), positionals: positionals.slice(1) };
}
