import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { AdminMesh, AdminMeshCall } from '#protocol';
import { go } from '../route.ts';
import type { MeshPicture, MeshPoint, PlacedPeer } from './place.ts';
import { DRAWN_MAX, placed } from './place.ts';

/** Draws the participants, the broker and their calls. The list below has the same as text. */
export function Topology({ mesh, picked }: { readonly mesh: AdminMesh; readonly picked: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const node = box.current;
    if (node === null) return;
    const measure = new ResizeObserver(() => setWidth(Math.max(280, node.clientWidth)));
    measure.observe(node);
    return () => measure.disconnect();
  }, []);
  const calls = mesh.calls.filter(({ endedAt }) => endedAt === undefined);
  const picture = placed(mesh.peers, calls, width);
  const { peers: drawn, centre, height } = picture;
  return (
    <div ref={box} class="topology panel">
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={wordsOf(mesh, calls)}>
        <defs>
          <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        {(picture.hasSpokes ? drawn : []).map(({ id, x, y, peer }) => (
          <line key={id} class={`spoke ${peer?.state ?? 'stale'}`} x1={centre.x} y1={centre.y} x2={x} y2={y} />
        ))}
        <g class={mesh.isConnected ? 'hub' : 'hub away'}>
          <rect x={centre.x - 62} y={centre.y - 22} width={124} height={44} rx={10} />
          <text x={centre.x} y={centre.y - 2}>
            {mesh.isConnected ? 'broker' : 'broker is away'}
          </text>
          <text class="small" x={centre.x} y={centre.y + 14}>
            {short(mesh.namespace, 20)}
          </text>
        </g>
        {calls.map((call) => (
          <Arrow key={`${call.from} ${call.task}`} call={call} picture={picture} />
        ))}
        {drawn.map((one) => (
          <Node key={one.id} one={one} picture={picture} isPicked={one.peer?.name === picked} />
        ))}
      </svg>
      {mesh.peers.length > DRAWN_MAX ? (
        <p class="dim">
          {DRAWN_MAX} of {mesh.peers.length} are drawn; the list has all.
        </p>
      ) : null}
    </div>
  );
}

function wordsOf({ peers, isConnected }: AdminMesh, calls: readonly AdminMeshCall[]): string {
  const silent = peers.filter(({ state }) => state === 'stale').length;
  const away = isConnected ? '' : ', the broker is disconnected';
  return `The mesh: ${peers.length} participants, ${silent} of them silent, ${calls.length} calls running${away}`;
}

/** Names often differ at their end, so the middle is left out. */
function short(text: string, max: number): string {
  const end = Math.floor(max / 3);
  return text.length <= max ? text : `${text.slice(0, max - end - 1)}…${text.slice(-end)}`;
}

interface NodeProps {
  readonly one: PlacedPeer;
  readonly picture: MeshPicture;
  readonly isPicked: boolean;
}

/** One agent, gateway or caller in the picture. */
function Node({ one, picture: { radius, nameMax }, isPicked }: NodeProps) {
  const { x, y, label, peer, name } = one;
  const kind = peer?.kind ?? 'caller';
  const replicas = peer?.replicas.length ?? 0;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the list below has the same as links
    <g
      class={`node ${kind} ${peer?.state ?? ''} ${peer?.isOurs === true ? 'ours' : ''} ${isPicked ? 'picked' : ''}`}
      onClick={() => (peer === undefined ? undefined : go(`/mesh/${encodeURIComponent(peer.name)}`))}
    >
      {peer === undefined ? null : <circle key={peer.seenAt} class="beat" cx={x} cy={y} r={radius} />}
      {kind === 'gateway' ? (
        <rect x={x - radius} y={y - radius} width={2 * radius} height={2 * radius} rx={6} />
      ) : (
        <circle cx={x} cy={y} r={radius} />
      )}
      {replicas > 1 ? (
        <text class="count" x={x} y={y + 5}>
          {replicas}
        </text>
      ) : null}
      <text class={`label ${name.anchor}`} x={name.x} y={name.y}>
        <title>{label}</title>
        {short(label, nameMax)}
      </text>
    </g>
  );
}

interface ArrowProps {
  readonly call: AdminMeshCall;
  readonly picture: MeshPicture;
}

/** A curve that bends inwards, beside the broker: the names are outside. */
function Arrow({ call, picture: { peers: drawn, centre, radius } }: ArrowProps) {
  const from = drawn.find(({ label }) => label === call.from);
  const to = drawn.find(({ label }) => label === call.to);
  if (from === undefined || to === undefined || from === to) return null;
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const far = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const away = Math.hypot(middle.x - centre.x, middle.y - centre.y);
  // A line through the broker bends to its right side, any other one towards it.
  const bend =
    away < 70
      ? { x: middle.x - ((to.y - from.y) / far) * 130, y: middle.y + ((to.x - from.x) / far) * 130 }
      : { x: middle.x + (centre.x - middle.x) * 0.35, y: middle.y + (centre.y - middle.y) * 0.35 };
  const start = towards(from, bend, radius);
  const end = towards(to, bend, radius);
  return (
    <path class="call" d={`M${start.x} ${start.y}Q${bend.x} ${bend.y} ${end.x} ${end.y}`} marker-end="url(#tip)">
      <title>{`${call.from} has ${call.to} do ${call.task}`}</title>
    </path>
  );
}

function towards(from: MeshPoint, to: MeshPoint, radius: number): MeshPoint {
  const far = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const step = (radius + 4) / far;
  return { x: from.x + (to.x - from.x) * step, y: from.y + (to.y - from.y) * step };
}
