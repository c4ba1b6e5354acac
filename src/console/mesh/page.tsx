import type { AdminMesh, AdminMeshCall, AdminPeer } from '#protocol';
import { usePolling } from '../poll.ts';
import { path, rest } from '../route.ts';
import { Copy, Empty, Problem, StateBadge, took, when } from '../ui/basic.tsx';
import { chatWith, mesh, meshProblem, news, refreshMesh } from './state.ts';
import { Topology } from './topology.tsx';
import './mesh.css';

/** The participants of the mesh, when each was last seen, and the calls between them. */
export function MeshPage() {
  usePolling(refreshMesh, 1500);
  const seen = mesh.value;
  const picked = path.value === '/mesh' ? '' : rest('/mesh');
  return (
    <div class="page mesh">
      <h1>Mesh</h1>
      <Problem text={meshProblem.value} onAgain={() => void refreshMesh()} />
      {seen === undefined ? null : seen === null ? <Alone /> : <Seen mesh={seen} picked={picked} />}
    </div>
  );
}

const JOINING = 'parley serve demo --mesh mqtt://127.0.0.1:1883';
const GATEWAY = 'parley mesh gateway --broker mqtt://127.0.0.1:1883';

/** Shown on a node without a mesh: how to join one. */
function Alone() {
  return (
    <Empty title="This node is not connected to a mesh">
      <p>A mesh lets agents on several machines find and call each other over a broker, MQTT or NATS. To connect agents:</p>
      <p>
        <code>{JOINING}</code> <Copy label="Copy" text={JOINING} />
      </p>
      <p>To serve every agent of a mesh over HTTP:</p>
      <p>
        <code>{GATEWAY}</code> <Copy label="Copy" text={GATEWAY} />
      </p>
    </Empty>
  );
}

const PROTOCOLS: Readonly<Record<string, string>> = { sam: 'protocol of Solace Agent Mesh', mqtt01: 'A2A over MQTT' };

/** The mesh as this node sees it. */
function Seen({ mesh: seen, picked }: { readonly mesh: AdminMesh; readonly picked: string }) {
  const { broker, namespace, grammar, isConnected, peers, counts } = seen;
  const one = peers.find(({ name }) => name === picked);
  return (
    <>
      <p class="lead">
        <span class={isConnected ? 'badge badge-ok' : 'badge badge-bad'}>{isConnected ? 'connected' : 'the broker is disconnected'}</span>{' '}
        <code>{broker}</code> · namespace <code>{namespace}</code> · {PROTOCOLS[grammar] ?? grammar}
        {counts.dropped + counts.refused === 0 ? '' : ` · ${counts.dropped} messages dropped, ${counts.refused} refused`}
      </p>
      <Topology mesh={seen} picked={picked} />
      {picked !== '' && one === undefined ? (
        <p class="problem" role="alert">
          {picked} is not on the mesh now. <a href="/console/mesh">Show all</a>
        </p>
      ) : null}
      <Peers peers={peers} picked={picked} />
      <Calls mesh={seen} />
      <Happened />
    </>
  );
}

/** The agents and gateways of the mesh. */
function Peers({ peers, picked }: { readonly peers: readonly AdminPeer[]; readonly picked: string }) {
  return (
    <section aria-label="Participants">
      <h2>Participants</h2>
      {peers.length === 0 ? (
        <p class="dim">No participants yet. Start an agent with the same broker and namespace: it announces itself within ten seconds.</p>
      ) : null}
      <ul class="peers">
        {peers.map((peer) => (
          <Peer key={`${peer.kind} ${peer.name}`} peer={peer} isPicked={peer.name === picked} />
        ))}
      </ul>
    </section>
  );
}

/** One agent or gateway. */
function Peer({ peer, isPicked }: { readonly peer: AdminPeer; readonly isPicked: boolean }) {
  const { name, kind, description, version, state, silentMs, replicas, isOurs } = peer;
  return (
    <li class={`panel peer ${state} ${isPicked ? 'picked' : ''}`} aria-label={name}>
      <div>
        <a href={`/console/mesh/${encodeURIComponent(name)}`} {...(isPicked ? { 'aria-current': 'true' as const } : {})}>
          <strong>{name}</strong>
        </a>{' '}
        <span class="dim">{version}</span> {kind === 'gateway' ? <span class="badge">gateway</span> : null}{' '}
        {isOurs ? <span class="badge badge-live">this node</span> : null}
        <p class="dim">{description}</p>
      </div>
      <div class="heart">
        <span class={state === 'live' ? 'badge badge-ok' : 'badge badge-warn'}>{state === 'live' ? 'live' : 'silent'}</span> heard{' '}
        {silentMs < 1000 ? 'just now' : `${took(silentMs)} ago`}
        {replicas.length > 1 ? (
          <ul aria-label={`Replicas of ${name}`}>
            {replicas.map((replica) => (
              <li key={replica.id} title={replica.id}>
                <code>{replica.id.slice(0, 8)}</code> {took(Math.max(0, replica.silentMs))} ago
              </li>
            ))}
          </ul>
        ) : null}
      </div>
      <div>
        {kind === 'agent' && peer.path !== undefined ? (
          <a class="button" href={`/console${chatWith(peer)}`} aria-label={`Chat with ${name}`}>
            Chat
          </a>
        ) : null}
      </div>
    </li>
  );
}

const HEARS: Readonly<Record<AdminMesh['hears'], string>> = {
  all: 'All calls over the broker since this page was opened, and this node’s calls since its start.',
  own: 'Calls through this node only. The broker does not allow listening to others, or listening has not started yet.',
  none: 'A2A over MQTT does not let a node see calls.',
};

/** Calls between agents: the running ones, then those that have ended. */
function Calls({ mesh: { calls, hears } }: { readonly mesh: AdminMesh }) {
  const open = calls.filter(({ endedAt }) => endedAt === undefined);
  const ended = calls.filter(({ endedAt }) => endedAt !== undefined);
  return (
    <section aria-label="Delegations">
      <h2>Running delegations</h2>
      <p class="dim">{HEARS[hears]}</p>
      {open.length === 0 ? <p class="dim">None at the moment. A call is listed here while one agent works for another.</p> : null}
      <ul class="mesh-calls" aria-label="Running">
        {open.map((call) => (
          <Call key={`${call.from} ${call.task}`} call={call} />
        ))}
      </ul>
      {ended.length === 0 ? null : <h3>Recently ended</h3>}
      <ul class="mesh-calls" aria-label="Recently ended">
        {ended.slice(0, 10).map((call) => (
          <Call key={`${call.from} ${call.task} ${call.since}`} call={call} />
        ))}
      </ul>
    </section>
  );
}

/** One call: who called whom, for how long, and how it ended. */
function Call({ call: { from, fromKind, to, task, depth, since, endedAt, state } }: { readonly call: AdminMeshCall }) {
  const ms = (endedAt === undefined ? Date.now() : Date.parse(endedAt)) - Date.parse(since);
  return (
    <li>
      <strong>{from}</strong> {fromKind === 'gateway' ? <span class="badge">gateway</span> : null} → <strong>{to}</strong>{' '}
      {endedAt === undefined ? (
        <span class="badge badge-live">running</span>
      ) : state === undefined ? (
        <span class="badge">ended</span>
      ) : null}
      {state === undefined ? null : <StateBadge state={state} />}
      <span class="dim">
        {' '}
        since {when(since)}, {took(Math.max(0, ms))}
        {depth === 0 ? '' : `, ${depth} deep`} · <code>{task}</code>
      </span>
    </li>
  );
}

/** Agents that joined, fell silent or left since the page was opened. */
function Happened() {
  if (news.value.length === 0) return null;
  return (
    <section aria-label="Changes">
      <h2>Changes since you opened this page</h2>
      <div role="log">
        <ul class="mesh-calls">
          {news.value.map(({ at, name, what }) => (
            <li key={`${at} ${name} ${what}`}>
              <span class="dim">{when(at)}</span> {name} {what}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
