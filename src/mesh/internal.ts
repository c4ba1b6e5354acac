// What the other rooms of this package may use of `mesh`: its public door, and names that are no part of the published API.
export { keyOf, type ObjectKey, type Objects } from './artifacts/objects.ts';
export { INLINE_BYTES_MAX, toBytes, toReferences } from './artifacts/parts.ts';
export type { ArtifactInfo, ArtifactOwner, ArtifactServiceOptions, NewArtifact, StoredArtifact } from './artifacts/service.ts';
export { ArtifactError } from './artifacts/service.ts';
export { type ArtifactUri, isArtifactName, readArtifactUri, writeArtifactUri } from './artifacts/uris.ts';
export type { BrokerFeatures, BrokerSubscription, LastWill, OutgoingMessage, PublishResult, ReceivedMessage } from './broker.ts';
export { BROKER_DEFAULTS } from './broker.ts';
export type { DelegatingTurn, DelegationTurnOptions } from './delegation/delegation.ts';
export type { PeerTool } from './delegation/tools.ts';
export { isAllowed, type NameRules, nameMatches } from './discovery/names.ts';
export { DISCOVERY_DEFAULTS, type PeerChange, type RegistryOptions } from './discovery/registry.ts';
export { type AgentHost, directoryAgent, meshAgent } from './gateway.ts';
export type { ConfiguredGrammar, GrammarSettings } from './grammars/configure.ts';
export { GrammarSettingError } from './grammars/configure.ts';
export type {
  Announcement,
  CallPath,
  DiscoveryEvent,
  MeshAgent,
  MeshContext,
  MeshCounts,
  MeshLinkOptions,
  MeshParticipant,
  ObservedCall,
  Stop,
} from './grammars/grammar.ts';
export { CALL_DEPTH_MAX, newCounts } from './grammars/grammar.ts';
export { onMqttEvents, publishMqttEvent } from './grammars/mqtt01/events.ts';
export type { MqttProfile } from './grammars/mqtt01/settings.ts';
export { type MqttIdentity, type MqttTopics, mqttId, mqttTopics, poolGroup } from './grammars/mqtt01/topics.ts';
export { GRAMMARS } from './grammars/registry.ts';
export { samName } from './grammars/sam/cards.ts';
export { getA2ABaseTopic } from './grammars/sam/topics.ts';
export { meshUserIn, readCallPath } from './grammars/shared/call-path.ts';
export * from './index.ts';
export type { MeshMonitor, MonitorOptions } from './monitor/monitor.ts';
export type { MeshViewOptions } from './monitor/view.ts';
export type { SwarmHandler, SwarmOptions } from './swarm/agent.ts';
export {
  type Directive,
  isDirective,
  type NewDirective,
  readDirective,
  SWARM_KINDS,
  SWARM_PRIORITIES,
  type SwarmKind,
  type SwarmPriority,
  writeDirective,
} from './swarm/directive.ts';
export { SWARM_DEFAULTS, type SwarmNode, type SwarmNodes, type SwarmNodesOptions, type Topology } from './swarm/nodes.ts';
export type { Directing, DirectiveAnswer, OpenSwarmOptions, Swarm, SwarmPeer } from './swarm/swarm.ts';
