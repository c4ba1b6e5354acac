import ipaddr from 'ipaddr.js';

export type Address = ReturnType<typeof ipaddr.parse>;
export type Range = readonly [Address, number];

/** IPv6 that is routed at all (RFC 4291 §2.4); `::7f00:1`, which some systems take for 127.0.0.1, is not in it. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');

/** An address in any spelling that a URL can hold, zone and brackets aside; undefined for a name. */
export function addressIn(host: string): Address | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  // ipaddr.js alone would take 0177.1 too; a URL parser has folded those before, and what is left over is no address.
  return ipaddr.IPv4.isValidFourPartDecimal(bare) || ipaddr.IPv6.isValid(bare) ? unmapped(ipaddr.parse(bare)) : undefined;
}

const LOOPBACK: readonly Address[] = [ipaddr.parse('127.0.0.1'), ipaddr.parse('::1')];

/** What a host stands for without anybody being asked: an address for itself, and `localhost` for this machine (RFC 6761 §6.3). */
export function knownAddresses(host: string): readonly Address[] | undefined {
  const literal = addressIn(host);
  if (literal !== undefined) return [literal];
  return /(?:^|\.)localhost\.?$/i.test(host) ? LOOPBACK : undefined;
}

/** `::ffff:127.0.0.1` is 127.0.0.1 to every system there is. */
function unmapped(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/**
 * Whether everybody on the Internet could reach it. Whatever leads to another address inside (NAT64, 6to4, Teredo) is not asked where to:
 * nobody publishes a service under one.
 */
export function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return !(address instanceof ipaddr.IPv6) || address.match(GLOBAL_UNICAST, 3);
}

export function isLoopbackAddress(address: Address): boolean {
  return address.range() === 'loopback';
}

/** `10.1.0.0/16`, `fd00::/8`, or one address; undefined: it is none. */
export function rangeOf(text: string): Range | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = addressIn(text);
  return address === undefined ? undefined : [address, address instanceof ipaddr.IPv6 ? 128 : 32];
}

export function isWithin(address: Address, [first, bits]: Range): boolean {
  return address.kind() === first.kind() && address.match(first, bits);
}
