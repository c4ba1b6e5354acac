import { ConfigError } from '../config/read-value.ts';
import type { Address, Range } from './addresses.ts';
import { isLoopbackAddress, isPublic, isWithin, knownAddresses, rangeOf } from './addresses.ts';
import { OutboundError } from './errors.ts';

export interface PolicyOptions {
  /** Names, addresses and ranges that requests may go to although they are not public. They may be asked without TLS and on any port. */
  readonly allowedTargets?: readonly string[];
  /** For development: this machine may be asked, also without TLS. */
  readonly allowLoopbackTargets?: boolean;
}

/**
 * Where requests may go. Everything that leaves the node for an address that somebody else chose is asked here twice: by its URL, and by
 * the addresses that its name stands for.
 */
export interface Policy {
  /** What can be known without asking anybody: scheme, user, port, and an address that stands there as itself. Throws. */
  checkUrl(url: URL): void;
  /** All that a name stands for: one address that is not allowed spoils the others. Throws. */
  checkAddresses(url: URL, addresses: readonly Address[]): void;
}

const WEB_PORTS: ReadonlySet<string> = new Set(['', '80', '443']);
const FIRST_FREE_PORT = 1024;
const NAME = /^(?=.{1,253}\.?$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?$/i;

export function createPolicy({ allowedTargets = [], allowLoopbackTargets = false }: PolicyOptions): Policy {
  const names = new Set<string>();
  const ranges: Range[] = [];
  for (const target of allowedTargets) {
    const range = rangeOf(target);
    if (range !== undefined) ranges.push(range);
    else if (NAME.test(target)) names.add(nameOf(target));
    else throw new ConfigError(`allowedTargets: ${target} is neither a name, nor an address, nor a range as 10.1.0.0/16`);
  }
  const isAllowed = (address: Address): boolean =>
    (allowLoopbackTargets && isLoopbackAddress(address)) || ranges.some((range) => isWithin(address, range));
  const isNamed = (url: URL): boolean => names.has(nameOf(url.hostname));
  const refuse = (url: URL, why: string): never => {
    throw new OutboundError('target', `${url.host} ${why}`);
  };
  const checkWay = (url: URL): void => {
    if (url.protocol !== 'https:') refuse(url, 'is to be reached by https');
    if (!WEB_PORTS.has(url.port) && Number(url.port) < FIRST_FREE_PORT) refuse(url, 'has a port that belongs to another service');
  };
  /** Only where addresses are allowed by themselves may one be found behind a name that excuses scheme and port. */
  const mayStandForAllowed = allowLoopbackTargets || ranges.length > 0;
  const checkAddresses: Policy['checkAddresses'] = (url, addresses) => {
    if (addresses.length === 0) refuse(url, 'stands for no address');
    if (isNamed(url) || addresses.every(isAllowed)) return;
    if (!addresses.every((address) => isPublic(address) || isAllowed(address))) refuse(url, 'is not a public address');
    checkWay(url);
  };
  return {
    checkAddresses,
    checkUrl: (url) => {
      if (url.protocol !== 'https:' && url.protocol !== 'http:') refuse(url, 'is neither http nor https');
      if (url.username !== '' || url.password !== '') refuse(url, 'has a user or a password in its address');
      const addresses = knownAddresses(url.hostname);
      if (addresses !== undefined) checkAddresses(url, addresses);
      else if (!isNamed(url) && !mayStandForAllowed) checkWay(url);
    },
  };
}

/** A dot at the end says that the name is whole; it is the same name. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
