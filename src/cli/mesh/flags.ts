import type { Settings } from '#server';
import { CliError } from '../command.ts';
import type { ParsedFlags } from '../flags/parse.ts';
import { listOf, textOf } from '../flags/parse.ts';
import type { Flag } from '../flags/spec.ts';

/** The flags of all commands of `parley mesh`. */
export const MESH_FLAGS: readonly Flag[] = [
  {
    name: 'broker',
    kind: 'text',
    value: 'URL',
    default: 'the setting mesh, or PARLEY_MESH',
    doc: 'The broker: mqtt://host:1883, mqtts://…, ws://…, nats://host:4222.',
  },
  { name: 'allow', kind: 'list', value: 'PATTERN', doc: "Only agents whose names match, as 'Order*'." },
  { name: 'deny', kind: 'list', value: 'PATTERN', doc: 'Leave out agents whose names match.' },
];

/** The broker's address, from the flag or the settings. Throws if there is none. */
export function brokerOf(parsed: ParsedFlags, { mesh }: Pick<Settings, 'mesh'>): string {
  const broker = textOf(parsed, 'broker') ?? mesh;
  if (broker !== undefined) return broker;
  throw new CliError('--broker is missing', { hint: 'example: --broker mqtt://127.0.0.1:1883', exit: 2 });
}

/** Which agents to show or offer, by `--allow` and `--deny`. */
export function peerFilter(parsed: ParsedFlags): { allow?: readonly string[]; deny?: readonly string[] } {
  const [allow, deny] = [listOf(parsed, 'allow'), listOf(parsed, 'deny')];
  return { ...(allow.length === 0 ? {} : { allow }), ...(deny.length === 0 ? {} : { deny }) };
}
