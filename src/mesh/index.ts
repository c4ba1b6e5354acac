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
export { authenticateBy } from './authenticate.ts';
export type { Accepted, Broker, BrokerFeatures, BrokerOptions, Incoming, LastWill, Outgoing, Subscription } from './broker.ts';
export { BROKER_DEFAULTS, BrokerError } from './broker.ts';
export type { DelegatingTurn, Delegation, DelegationOptions, PeerCall, PeerResult, TurnOptions } from './delegation/delegation.ts';
export { delegate } from './delegation/delegation.ts';
export { type PeerTool, peerCall, peerTools } from './delegation/tools.ts';
export { isAllowed, type NameRules, nameMatches } from './discovery/names.ts';
export {
  DISCOVERY_DEFAULTS,
  type MeshRegistry,
  type Peer,
  type PeerChange,
  type RegistryOptions,
} from './discovery/registry.ts';
export { directoryAgent, type GatewayOptions, meshAgent, type Offering, openGateway } from './gateway.ts';
export * from './grammars/grammar.ts';
export { MQTT_BINDING, MQTT_EXTENSION, mqttPresence } from './grammars/mqtt01/cards.ts';
export { onMqttEvents, publishMqttEvent } from './grammars/mqtt01/events.ts';
export { mqttGrammar } from './grammars/mqtt01/grammar.ts';
export { MQTT_PROFILE, type MqttOptions, type MqttProfile } from './grammars/mqtt01/settings.ts';
export { createTopics, type Identity, MQTT_ROOT, mqttId, poolGroup, type Topics } from './grammars/mqtt01/topics.ts';
export { SAM_EXTENSIONS, samName } from './grammars/sam/cards.ts';
export { samGrammar } from './grammars/sam/grammar.ts';
export * from './grammars/sam/topics.ts';
export { readTrail, userIn } from './grammars/sam/trail.ts';
export { joinMesh, type Mesh, type MeshOptions } from './mesh.ts';
export { type SwarmHandler, type SwarmOptions, swarmAgent } from './swarm/agent.ts';
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
export { createSwarmNodes, SWARM_DEFAULTS, type SwarmNode, type SwarmNodes, type SwarmNodesOptions, type Topology } from './swarm/nodes.ts';
export { registerSwarmHandler } from './swarm/register.ts';
export { type Directing, type DirectiveAnswer, type OpenSwarmOptions, openSwarm, type Swarm, type SwarmPeer } from './swarm/swarm.ts';
export { meshView, type ViewOptions } from './watch/view.ts';
export { type MeshWatch, type WatchOptions, watchMesh } from './watch/watch.ts';
