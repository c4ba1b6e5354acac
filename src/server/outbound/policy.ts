import { ConfigError } from '../config/read-value.ts';
import type { IpAddress, IpRange } from './addresses.ts';
import { isLoopbackAddress, isPublic, isWithin, knownAddresses, rangeOf } from './addresses.ts';
import { OutboundError } from './errors.ts';

/** Exceptions from the rule that outbound requests go to public addresses only. */
export interface PolicyOptions {
  /**
   * Host names, addresses and ranges that requests may go to although they are not public, on any port
   * and without TLS.
   */
  readonly allowedTargets?: readonly string[];
  /** Allows requests to this machine itself, also without TLS. For development only. */
  readonly allowLoopbackTargets?: boolean;
}

/** The rules of one outbound policy. */
export interface TargetRules extends PolicyOptions {
  /**
   * URLs that the operator named. Their origins are allowed, on any port and without TLS. All spellings
   * of loopback count as one host.
   */
  readonly namedUrls?: readonly string[];
}

/**
 * Decides where outbound requests may go. Each request is checked twice: first its URL, then the
 * addresses that its host name resolves to.
 */
export interface Policy {
  /**
   * Checks what needs no DNS lookup: scheme, user information, port, and a literal IP address. Throws
   * an OutboundError.
   */
  checkUrl(url: URL): void;
  /**
   * Checks all addresses of the host name. One forbidden address forbids the name. Throws an
   * OutboundError.
   */
  checkAddresses(url: URL, addresses: readonly IpAddress[]): void;
}

const WEB_PORTS: ReadonlySet<string> = new Set(['', '80', '443']);
const FIRST_FREE_PORT = 1024;
const NAME = /^(?=.{1,253}\.?$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?$/i;

/** Parses the rules once. Throws a ConfigError for a target that is neither a name nor an address. */
export function createPolicy({ allowedTargets = [], allowLoopbackTargets = false, namedUrls = [] }: TargetRules): Policy {
  const names = new Set<string>();
  const ranges: IpRange[] = [];
  for (const target of allowedTargets) {
    const range = rangeOf(target);
    if (range !== undefined) ranges.push(range);
    else if (NAME.test(target)) names.add(nameOf(target));
    else throw new ConfigError(`allowedTargets: ${target} is not a host name, an address, or a range such as 10.1.0.0/16`);
  }
  const isAllowed = (address: IpAddress): boolean =>
    (allowLoopbackTargets && isLoopbackAddress(address)) || ranges.some((range) => isWithin(address, range));
  const origins = new Set(namedUrls.map((url) => originOf(new URL(url))));
  const isNamed = (url: URL): boolean => names.has(nameOf(url.hostname)) || origins.has(originOf(url));
  const refuse = (url: URL, why: string): never => {
    throw new OutboundError('target', `${url.host} ${why}`);
  };
  const checkSchemeAndPort = (url: URL): void => {
    if (url.protocol !== 'https:') refuse(url, 'must use https');
    if (!WEB_PORTS.has(url.port) && Number(url.port) < FIRST_FREE_PORT) refuse(url, 'uses a port that is reserved for another service');
  };
  /**
   * Whether a name may resolve to an allowed address. Then scheme and port are checked after the
   * lookup, not before.
   */
  const mayResolveToAllowed = allowLoopbackTargets || ranges.length > 0;
  const checkAddresses: Policy['checkAddresses'] = (url, addresses) => {
    if (addresses.length === 0) refuse(url, 'resolves to no address');
    if (isNamed(url) || addresses.every(isAllowed)) return;
    if (!addresses.every((address) => isPublic(address) || isAllowed(address))) refuse(url, 'is not a public address');
    checkSchemeAndPort(url);
  };
  return {
    checkAddresses,
    checkUrl: (url) => {
      if (url.protocol !== 'https:' && url.protocol !== 'http:') refuse(url, 'must use http or https');
      if (url.username !== '' || url.password !== '') refuse(url, 'must not have a user name or password in its URL');
      const addresses = knownAddresses(url.hostname);
      if (addresses !== undefined) checkAddresses(url, addresses);
      else if (!isNamed(url) && !mayResolveToAllowed) checkSchemeAndPort(url);
    },
  };
}

/** A trailing dot marks a fully qualified name; it is still the same name. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

/** The origin, with one spelling for all of this machine's loopback addresses. */
function originOf(url: URL): string {
  const known = knownAddresses(url.hostname);
  const host = known?.every(isLoopbackAddress) === true ? 'loopback' : nameOf(url.hostname);
  return `${url.protocol}//${host}:${url.port}`;
}
