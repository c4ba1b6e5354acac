import type { Settings } from '#server';
import type { FlagKinds, OwnFlags } from '../bridges/own-flags.ts';
import { CliError } from '../command.ts';

export const FLAGS: FlagKinds = { broker: 'one', allow: 'many', deny: 'many' };

export function brokerOf(flags: OwnFlags, { mesh }: Settings): string {
  const broker = flags.one('broker') ?? mesh;
  if (broker !== undefined) return broker;
  throw new CliError('--broker is missing: which one?', { hint: 'as --broker mqtt://127.0.0.1:1883', exit: 2 });
}
