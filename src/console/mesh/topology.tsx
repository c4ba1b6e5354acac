import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { AdminMesh, AdminMeshCall, AdminPeer } from '#protocol';
import { go } from '../route.ts';

const HEIGHT = 420;
const NODE_PX = 15;
/** More would not be readable. The list below has all of them. */
const DRAWN_MAX = 48;

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Drawn extends Point {
  readonly id: string;
  readonly label: string;
  readonly peer: AdminPeer | undefined;
}

/** Draws the participants around the broker, and their calls. The list below has the same as text. */
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
  const drawn = placed(mesh.peers, calls, width);
  const centre: Point = { x: width / 2, y: HEIGHT / 2 };
  return (
    <div ref={box} class="topology panel">
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} width={width} height={HEIGHT} role="img" aria-label={wordsOf(mesh, calls)}>
        <defs>
          <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        {drawn.map(({ id, x, y, peer }) => (
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
          <Arrow key={`${call.from} ${call.task}`} call={call} drawn={drawn} centre={centre} />
        ))}
        {drawn.map((one) => (
          <Node key={one.id} one={one} isPicked={one.peer?.name === picked} />
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

/**
 * Places participants on an ellipse in the order of their names, so that they move only when one joins
 * or leaves. Callers without a card are included.
 */
function placed(peers: readonly AdminPeer[], calls: readonly AdminMeshCall[], width: number): readonly Drawn[] {
  const known = peers.slice(0, DRAWN_MAX).map((peer) => ({ id: `${peer.kind} ${peer.name}`, label: peer.name, peer }));
  const names = new Set(known.map(({ label }) => label));
  const callers = [...new Set(calls.map(({ from }) => from))].filter((name) => !names.has(name)).slice(0, 12);
  const all = [...known, ...callers.map((name) => ({ id: `caller ${name}`, label: name, peer: undefined }))];
  const [rx, ry] = [Math.max(90, Math.min(width / 2 - 70, 460)), HEIGHT / 2 - 56];
  return all.map((one, at) => {
    const angle = (at / all.length) * 2 * Math.PI - Math.PI / 2;
    return { ...one, x: width / 2 + rx * Math.cos(angle), y: HEIGHT / 2 - 6 + ry * Math.sin(angle) };
  });
}

function short(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/** One agent, gateway or caller in the picture. */
function Node({ one, isPicked }: { readonly one: Drawn; readonly isPicked: boolean }) {
  const { x, y, label, peer } = one;
  const kind = peer?.kind ?? 'caller';
  const replicas = peer?.replicas.length ?? 0;
  const isAbove = y < HEIGHT / 2 - 20;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the list below has the same as links
    <g
      class={`node ${kind} ${peer?.state ?? ''} ${peer?.isOurs === true ? 'ours' : ''} ${isPicked ? 'picked' : ''}`}
      onClick={() => (peer === undefined ? undefined : go(`/mesh/${encodeURIComponent(peer.name)}`))}
    >
      {peer === undefined ? null : <circle key={peer.seenAt} class="beat" cx={x} cy={y} r={NODE_PX} />}
      {kind === 'gateway' ? (
        <rect x={x - NODE_PX} y={y - NODE_PX} width={2 * NODE_PX} height={2 * NODE_PX} rx={6} />
      ) : (
        <circle cx={x} cy={y} r={NODE_PX} />
      )}
      {replicas > 1 ? (
        <text class="count" x={x} y={y + 5}>
          {replicas}
        </text>
      ) : null}
      <text class="label" x={x} y={isAbove ? y - NODE_PX - 8 : y + NODE_PX + 17}>
        {short(label, 18)}
      </text>
    </g>
  );
}

interface ArrowProps {
  readonly call: AdminMeshCall;
  readonly drawn: readonly Drawn[];
  readonly centre: Point;
}

/** A curve that bends inwards, beside the broker: the names are outside. */
function Arrow({ call, drawn, centre }: ArrowProps) {
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
  const start = towards(from, bend);
  const end = towards(to, bend);
  return (
    <path class="call" d={`M${start.x} ${start.y}Q${bend.x} ${bend.y} ${end.x} ${end.y}`} marker-end="url(#tip)">
      <title>{`${call.from} has ${call.to} do ${call.task}`}</title>
    </path>
  );
}

function towards(from: Point, to: Point): Point {
  const far = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const step = (NODE_PX + 4) / far;
  return { x: from.x + (to.x - from.x) * step, y: from.y + (to.y - from.y) * step };
}
