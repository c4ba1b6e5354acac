import type { Carrier, Courier, Vault } from './courier.ts';
import { Dispatcher } from './dispatcher.ts';
import type { Lane } from './lane.ts';
import { Replies } from './replies.ts';
import type { Rows } from './rows.ts';
import { createRows } from './rows.ts';

/** What the ways out need of the outside. */
export interface Exits {
  readonly courier: Courier | undefined;
  readonly carrier: Carrier | undefined;
  readonly vault: Vault | undefined;
}

/** The two ways out. */
export interface Ways {
  readonly webhooks?: Dispatcher;
  readonly replies?: Replies;
  readonly rows?: Rows;
}

export const NO_WAYS: Ways = {};

type Opening = Pick<ConstructorParameters<typeof Dispatcher>[0], 'core' | 'nextNumber' | 'onClosed'>;

export function openWays({ courier, carrier, vault }: Exits, parts: Opening): Ways {
  const rows = createRows(parts.core);
  return {
    rows,
    ...(courier === undefined ? {} : { webhooks: new Dispatcher({ ...parts, courier, vault, rows }) }),
    ...(carrier === undefined ? {} : { replies: new Replies({ ...parts, carrier, rows }) }),
  };
}

export function wayOf({ webhooks, replies }: Ways, { reply }: Lane): Pick<Dispatcher, 'wake' | 'close'> | undefined {
  return reply === undefined ? webhooks : replies;
}
