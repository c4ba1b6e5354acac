import type { Owner } from '#engine';
import type { AdminErased } from '#protocol';
import { LOCAL_PRINCIPAL } from '#protocol';
import { suggest } from '#server';
import { listKeys } from '../../server/adapters/api-keys-file.ts';
import { CliError } from '../command.ts';
import { ownerText } from './owner.ts';

/** Where callers are known from. */
export interface KnownCallers {
  /** The folder of the API keys. */
  readonly auth: string;
  /** The callers of the newest tasks. */
  recent(): Promise<readonly Owner[]>;
}

const NAMED_MAX = 5;

/** Throws if a node has no data of a caller and no API key of that name: probably the name is wrong, and nothing would be done. */
export async function refuseUnknown(owner: Owner, { tasks, directAnswers, pushConfigs }: AdminErased, known: KnownCallers): Promise<void> {
  if (tasks + directAnswers + pushConfigs > 0 || owner.principal === LOCAL_PRINCIPAL.id) return;
  const keys = callersOfKeys(known.auth);
  if (keys.some((each) => isSame(each, owner))) return;
  const all = [...keys, ...(await known.recent())].filter((each, at, list) => list.findIndex((other) => isSame(each, other)) === at);
  const near = nearTo(owner, all);
  throw new CliError(`nothing is known of a caller ${ownerText(owner)}`, {
    hint:
      near.length > 0
        ? `did you mean ${near.slice(0, NAMED_MAX).map(flagText).join(', or ')}?`
        : 'parley audit tail and the console show the names of callers, such as key:NAME for an API key',
    code: 'PARLEY_ERR_NOT_FOUND',
  });
}

function callersOfKeys(auth: string): readonly Owner[] {
  try {
    return listKeys(auth).map(({ name, tenant = '' }) => ({ principal: `key:${name}`, tenant }));
  } catch {
    return []; // other users can read the file, or it is damaged: the data of the node decides alone
  }
}

/** The same name in another tenant or of another kind (`ann`, `key:ann`), or else one with few other letters. */
function nearTo(owner: Owner, all: readonly Owner[]): readonly Owner[] {
  const plain = plainName(owner);
  const same = all.filter((each) => plainName(each) === plain);
  if (same.length > 0) return same;
  const like = suggest(plain, all.map(plainName));
  return all.filter((each) => plainName(each) === like);
}

function plainName({ principal }: Owner): string {
  return principal.slice(principal.indexOf(':') + 1);
}

function isSame(one: Owner, other: Owner): boolean {
  return one.principal === other.principal && one.tenant === other.tenant;
}

function flagText({ principal, tenant }: Owner): string {
  return `--principal ${principal}${tenant === '' ? '' : ` --tenant ${tenant}`}`;
}
