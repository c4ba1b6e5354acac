export { keyOf, type ObjectKey, type Objects } from './artifacts/objects.ts';
export { INLINE_BYTES_MAX, toBytes, toReferences } from './artifacts/parts.ts';
export type {
  ArtifactInfo,
  ArtifactOwner,
  ArtifactService,
  ArtifactServiceOptions,
  NewArtifact,
  StoredArtifact,
} from './artifacts/service.ts';
export { ArtifactError, createArtifactService } from './artifacts/service.ts';
export { type ArtifactUri, isArtifactName, readArtifactUri, writeArtifactUri } from './artifacts/uris.ts';
export type { Accepted, Broker, BrokerFeatures, BrokerOptions, Incoming, LastWill, Outgoing, Subscription } from './broker.ts';
export { BROKER_DEFAULTS, BrokerError } from './broker.ts';
export * from './grammars/sam/topics.ts';
