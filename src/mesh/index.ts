/**
 * Agents over a message broker (MQTT or NATS): they find each other, call each other and delegate work,
 * without addresses. `joinMesh` serves agents on a broker and calls others, `openGateway` offers all of
 * them over HTTP, and `delegate` lets an agent call its peers.
 *
 * ```ts
 * const mesh = joinMesh({ broker: await connectMqtt({ url: 'mqtt://127.0.0.1:1883' }), namespace: 'production' });
 * await mesh.serve({ name: 'echo', card: agent.card, service: engine.serviceOf('echo') });
 * ```
 */
import * as samTopics from './grammars/sam/topics.ts';

export type { ArtifactService } from './artifacts/service.ts';
export { createArtifactService } from './artifacts/service.ts';
export { authenticateBy } from './authenticate.ts';
export type { Broker, BrokerOptions } from './broker.ts';
export { BrokerError } from './broker.ts';
export type { Delegation, DelegationOptions, PeerCall, PeerResult } from './delegation/delegation.ts';
export { delegate } from './delegation/delegation.ts';
export { peerTools } from './delegation/tools.ts';
export type { MeshPeer, MeshRegistry } from './discovery/registry.ts';
export { type GatewayOptions, openGateway } from './gateway.ts';
export type { Grammar, MeshCaller } from './grammars/grammar.ts';
export { mqttPresence } from './grammars/mqtt01/cards.ts';
export { mqttGrammar } from './grammars/mqtt01/grammar.ts';
export type { MqttGrammarOptions } from './grammars/mqtt01/settings.ts';
export { samGrammar } from './grammars/sam/grammar.ts';
export { joinMesh, type Mesh, type MeshOptions } from './mesh.ts';
export { monitorMesh } from './monitor/monitor.ts';
export { meshView } from './monitor/view.ts';
export { swarmAgent } from './swarm/agent.ts';
export { createSwarmNodes } from './swarm/nodes.ts';
export { registerSwarmHandler } from './swarm/register.ts';
export { openSwarm } from './swarm/swarm.ts';
export type { RequestTurns } from './take-turns.ts';
/**
 * The names of Solace Agent Mesh's topics: `samTopics.getAgentRequestTopic('production',
 * 'OrderValidator')`.
 */
export { samTopics };
