import { findBinding } from '#bindings';
import type { AgentInterface } from '#protocol';

/** The address of an interface as a URL, in the way of its binding. Undefined: it is not an address. */
export function interfaceAddress({ url, protocolBinding }: AgentInterface, cardUrl: string | undefined): string | undefined {
  const addressOf = findBinding(protocolBinding)?.addressOf;
  if (addressOf !== undefined) return addressOf(url, cardUrl);
  return URL.canParse(url, cardUrl) ? new URL(url, cardUrl).href : undefined;
}
