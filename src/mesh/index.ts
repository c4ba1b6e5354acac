export type { Accepted, Broker, BrokerFeatures, BrokerOptions, Incoming, LastWill, Outgoing, Subscription } from './broker.ts';
export { BROKER_DEFAULTS, BrokerError } from './broker.ts';
export * from './grammars/sam/topics.ts';
