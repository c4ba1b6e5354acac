/** Agents on a broker (docs/mesh.md). */
export const MESH_SETTINGS = {
  mesh: {
    type: 'text',
    flag: 'mesh',
    placeholder: 'BROKER',
    doc: 'Serve the agents over this broker too: `mqtt://…`, `mqtts://…`, `nats://…`, or `memory` within one process.',
  },
  namespace: {
    type: 'text',
    default: 'parley',
    flag: 'namespace',
    placeholder: 'NAME',
    doc: 'The prefix of all topics on the broker, as `acme/production`. In A2A over MQTT: the organisation and the unit.',
  },
  meshGrammar: {
    type: 'choice',
    oneOf: ['sam', 'mqtt01'],
    default: 'sam',
    flag: 'mesh-grammar',
    doc: 'The topics and messages on the broker: `sam` for Solace Agent Mesh, `mqtt01` for A2A over MQTT 0.1.',
  },
  meshRoot: {
    type: 'text',
    flag: 'mesh-root',
    placeholder: 'TOPIC',
    doc: 'A2A over MQTT: the first part of all topics, the same for the whole mesh. Default: `$a2a/v1`. Pools on Mosquitto need one without `$`.',
  },
  meshPools: {
    type: 'list',
    flag: 'mesh-pool',
    placeholder: 'NAME',
    doc: 'A2A over MQTT: pools of equal agents whose requests these agents share. A gateway offers the pools beside the agents.',
  },
  meshInstance: {
    type: 'text',
    flag: 'mesh-instance',
    placeholder: 'NAME',
    doc: 'The name of this process among the replicas of its agents. A2A over MQTT appends it to their names: `echo-1`. Default: random; in A2A over MQTT none.',
  },
  meshScopes: {
    type: 'scopes',
    flag: 'mesh-scope',
    placeholder: 'SCOPE',
    doc: 'Scopes of callers on the broker. An agent that runs commands needs `executor:NAME` among them.',
  },
  artifacts: {
    type: 'text',
    flag: 'artifacts',
    placeholder: 'PLACE',
    doc: 'Where files above 100 kB are stored to be sent by reference: a folder that all members share, `s3://BUCKET/PREFIX?endpoint=URL`, or `memory` within one process.',
  },
  artifactsLayout: {
    type: 'choice',
    oneOf: ['parley', 'sam'],
    default: 'parley',
    flag: 'artifacts-layout',
    doc: 'How the folder of `artifacts` is laid out. `sam`: as Solace Agent Mesh does, so that its programs share the folder.',
  },
} as const;
