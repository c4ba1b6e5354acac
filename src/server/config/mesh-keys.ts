import { CALLER_SCOPES } from '../access/authorisation/scopes.ts';
import type { Key } from './key.ts';
import type { KeyType } from './values.ts';

const TEXT: KeyType = { kind: 'text' };
const TEXTS: KeyType = { kind: 'list' };

/** Solace Agent Mesh's, and A2A over MQTT 0.1. */
export type MeshGrammar = 'sam' | 'mqtt01';
const GRAMMARS: readonly MeshGrammar[] = ['sam', 'mqtt01'];

/** Agents on a broker (docs/mesh.md). */
export const MESH_KEYS: readonly Key[] = [
  {
    name: 'mesh',
    type: TEXT,
    env: ['PARLEY_MESH'],
    flag: 'mesh',
    doc: 'The broker on which the agents answer too: `mqtt://…`, `mqtts://…`, `nats://…`, or `memory` for one process.',
  },
  {
    name: 'namespace',
    type: TEXT,
    default: 'parley',
    env: ['PARLEY_NAMESPACE'],
    flag: 'namespace',
    doc: 'The root of all topics on the broker, as `acme/production`; in A2A over MQTT the organisation and the unit.',
  },
  {
    name: 'meshGrammar',
    type: { kind: 'text', oneOf: GRAMMARS },
    default: 'sam',
    env: ['PARLEY_MESH_GRAMMAR'],
    flag: 'mesh-grammar',
    doc: 'What is spoken on the broker: Solace Agent Mesh’s grammar, or A2A over MQTT 0.1.',
  },
  {
    name: 'meshRoot',
    type: TEXT,
    env: ['PARLEY_MESH_ROOT'],
    flag: 'mesh-root',
    doc: 'A2A over MQTT: the root of its topics, the same for the whole mesh. Default: `$a2a/v1`; pools on Mosquitto need one without `$`.',
  },
  {
    name: 'meshPools',
    type: TEXTS,
    default: [],
    env: ['PARLEY_MESH_POOLS'],
    flag: 'mesh-pool',
    doc: 'A2A over MQTT: groups of equal agents whose requests these share; a gateway offers them beside the agents.',
  },
  {
    name: 'meshInstance',
    type: TEXT,
    env: ['PARLEY_MESH_INSTANCE'],
    flag: 'mesh-instance',
    doc: 'This process among the replicas of its agents. In A2A over MQTT, where no two may have one name, it is put behind theirs: `echo-1`. Default: random, and none.',
  },
  {
    name: 'meshScopes',
    type: TEXTS,
    default: CALLER_SCOPES,
    env: ['PARLEY_MESH_SCOPES'],
    flag: 'mesh-scope',
    doc: 'Scopes of those who call over the broker. An agent that runs commands needs `executor:NAME` in it.',
  },
  {
    name: 'artifacts',
    type: TEXT,
    env: ['PARLEY_ARTIFACTS'],
    flag: 'artifacts',
    doc: 'Where files above 100 kB are put, which then go over the broker by reference: a folder that the members share, `s3://BUCKET/PREFIX?endpoint=URL`, or `memory` for one process.',
  },
];
