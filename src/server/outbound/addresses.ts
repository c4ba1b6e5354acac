import ipaddr from 'ipaddr.js';

/** A parsed IPv4 or IPv6 address. */
export type IpAddress = ReturnType<typeof ipaddr.parse>;
/** A network: its first address and the number of fixed bits. */
export type IpRange = readonly [IpAddress, number];

/**
 * The routed part of IPv6 (RFC 4291 §2.4). It excludes `::7f00:1`, which some systems treat as
 * 127.0.0.1.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');

/**
 * Parses an address in any spelling that a URL can hold, with or without brackets, without a zone.
 * Undefined for a name.
 */
export function addressIn(host: string): IpAddress | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  // ipaddr.js alone also accepts 0177.1. The URL parser has already normalised such spellings, so one that remains is not an address.
  return ipaddr.IPv4.isValidFourPartDecimal(bare) || ipaddr.IPv6.isValid(bare) ? unmapped(ipaddr.parse(bare)) : undefined;
}

const LOOPBACK: readonly IpAddress[] = [ipaddr.parse('127.0.0.1'), ipaddr.parse('::1')];

/**
 * The addresses of a host that needs no DNS lookup: an IP address, or `localhost` and names below it
 * (RFC 6761 §6.3).
 */
export function knownAddresses(host: string): readonly IpAddress[] | undefined {
  const literal = addressIn(host);
  if (literal !== undefined) return [literal];
  return /(?:^|\.)localhost\.?$/i.test(host) ? LOOPBACK : undefined;
}

/** Operating systems treat `::ffff:127.0.0.1` as 127.0.0.1. */
function unmapped(address: IpAddress): IpAddress {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/**
 * Whether the address is reachable from the whole Internet. Addresses that embed another one (NAT64,
 * 6to4, Teredo) count as not public, whatever they embed: no service is published under one.
 */
export function isPublic(address: IpAddress): boolean {
  if (address.range() !== 'unicast') return false;
  return !(address instanceof ipaddr.IPv6) || address.match(GLOBAL_UNICAST, 3);
}

export function isLoopbackAddress(address: IpAddress): boolean {
  return address.range() === 'loopback';
}

/** Parses `10.1.0.0/16`, `fd00::/8` or a single address. Undefined if the text is none of these. */
export function rangeOf(text: string): IpRange | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = addressIn(text);
  return address === undefined ? undefined : [address, address instanceof ipaddr.IPv6 ? 128 : 32];
}

export function isWithin(address: IpAddress, [first, bits]: IpRange): boolean {
  return address.kind() === first.kind() && address.match(first, bits);
}
