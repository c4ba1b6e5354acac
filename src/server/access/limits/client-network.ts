const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * Whom a limit per client address counts. One IPv6 client has a whole network of addresses, and can use a new one for each request: the
 * first 64 bits count. IPv4 addresses count as they are, also in the IPv6 form that a socket for both reports (`::ffff:192.0.2.1`).
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [withoutZone = ''] = address.split('%', 1);
  const [head = '', tail = ''] = withoutZone.split('::', 2);
  const [first, last] = [groupsOf(head), groupsOf(tail)];
  const zeros = Array.from({ length: Math.max(0, GROUPS - first.length - last.length) }, () => '0');
  const network = [...first, ...zeros, ...last].slice(0, NETWORK_GROUPS);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** An IPv4 address at the end is two groups, which are never among the first four. */
function groupsOf(text: string): readonly string[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
}
