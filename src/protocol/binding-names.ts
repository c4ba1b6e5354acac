import type { AgentInterface } from './card.ts';

/** The bindings that A2A 1.0.1 §4.4.6 names, as cards name them. This package may support fewer. */
export const STANDARD_BINDINGS = ['JSONRPC', 'GRPC', 'HTTP+JSON'] as const;
export type StandardBinding = (typeof STANDARD_BINDINGS)[number];

/** Whether the specification names this binding, in any case. */
export function isStandardBinding(name: string): boolean {
  return STANDARD_BINDINGS.some((each) => each === name.toUpperCase());
}

/** What to declare of an interface that every client of A2A 1.0 can call. */
export const COMMON_INTERFACE: Pick<AgentInterface, 'protocolBinding' | 'protocolVersion'> = {
  protocolBinding: 'JSONRPC',
  protocolVersion: '1.0',
};

/** Whether an interface of a card says where the agent is: with a URL, or for gRPC also with a host and a port. */
export function hasAddress({ url, protocolBinding }: AgentInterface): boolean {
  return protocolBinding === 'GRPC' || URL.canParse(url);
}
