import type { IpAddress } from './addresses.ts';
import { addressIn, knownAddresses } from './addresses.ts';
import { OutboundError } from './errors.ts';

/** Resolves a host name to all its addresses. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** The addresses of a URL's host. Throws an OutboundError if the name does not resolve. */
export async function addressesOf(url: URL, resolve: Resolve): Promise<readonly IpAddress[]> {
  const known = knownAddresses(url.hostname);
  if (known !== undefined) return known;
  const found = await resolve(url.hostname).catch((thrown: unknown) => {
    throw new OutboundError('name', `${url.hostname} could not be resolved`, { cause: thrown });
  });
  return found.map((text) => {
    const address = addressIn(text);
    if (address === undefined) throw new OutboundError('name', `${url.hostname} resolved to ${text}, which is not an IP address`);
    return address;
  });
}
