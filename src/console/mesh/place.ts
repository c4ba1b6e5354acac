import type { AdminMeshCall, AdminPeer } from '#protocol';

/** A place in the picture, in pixels. */
export interface MeshPoint {
  readonly x: number;
  readonly y: number;
}

/** A participant in the picture. */
export interface PlacedPeer extends MeshPoint {
  readonly id: string;
  readonly label: string;
  /** Where its name is, and which end of it. */
  readonly name: MeshPoint & { readonly anchor: 'start' | 'middle' };
  /** Undefined: a caller without a card. */
  readonly peer: AdminPeer | undefined;
}

/** The picture of a mesh. */
export interface MeshPicture {
  readonly peers: readonly PlacedPeer[];
  readonly centre: MeshPoint;
  readonly height: number;
  /** Half the width of a participant. */
  readonly radius: number;
  /** How many characters of a name have room. */
  readonly nameMax: number;
  /** There is room for lines to the broker. */
  readonly hasSpokes: boolean;
}

/** More would not be readable. The list below the picture has all of them. */
export const DRAWN_MAX = 200;
/** More callers without a card are not drawn. */
const CALLERS_MAX = 12;
/** So many have room around the broker, with their names. */
const ROUND_MAX = 14;
const NARROW_PX = 560;

/**
 * Places the participants: around the broker if they are few, and in columns beside it if they are many. Callers without a card are included.
 * The order is that of the names, so that participants move only when one joins or leaves.
 */
export function placed(peers: readonly AdminPeer[], calls: readonly AdminMeshCall[], width: number): MeshPicture {
  const known = peers.slice(0, DRAWN_MAX).map((peer) => ({ id: `${peer.kind} ${peer.name}`, label: peer.name, peer }));
  const names = new Set(known.map(({ label }) => label));
  const callers = [...new Set(calls.map(({ from }) => from))].filter((name) => !names.has(name)).slice(0, CALLERS_MAX);
  const all = [...known, ...callers.map((name) => ({ id: `caller ${name}`, label: name, peer: undefined }))];
  return all.length <= ROUND_MAX ? around(all, width) : inColumns(all, width);
}

type Unplaced = Pick<PlacedPeer, 'id' | 'label' | 'peer'>;

const ROUND = { height: 420, radius: 15 };

function around(all: readonly Unplaced[], width: number): MeshPicture {
  const { height, radius } = ROUND;
  const [rx, ry] = [Math.max(90, Math.min(width / 2 - 70, 460)), height / 2 - 56];
  const peers = all.map((one, at): PlacedPeer => {
    const angle = (at / all.length) * 2 * Math.PI - Math.PI / 2;
    const [x, y] = [width / 2 + rx * Math.cos(angle), height / 2 - 6 + ry * Math.sin(angle)];
    const isAbove = y < height / 2 - 20;
    return { ...one, x, y, name: { x, y: isAbove ? y - radius - 8 : y + radius + 17, anchor: 'middle' } };
  });
  return { peers, centre: { x: width / 2, y: height / 2 }, height, radius, nameMax: 18, hasSpokes: true };
}

const COLUMN_PX = 172;
const ROW_PX = 28;
const HUB_PX = 160;
const DENSE_RADIUS = 8;
/** The width of most letters. */
const LETTER_PX = 7.8;

/** Names are beside their circles. On a narrow screen the broker is above the columns. */
function inColumns(all: readonly Unplaced[], width: number): MeshPicture {
  const isNarrow = width < NARROW_PX;
  const side = isNarrow ? 0 : Math.max(1, Math.floor((width - HUB_PX) / 2 / COLUMN_PX));
  const columns = isNarrow ? Math.max(1, Math.floor(width / COLUMN_PX)) : 2 * side;
  const rows = Math.ceil(all.length / columns);
  const top = isNarrow ? 84 : 24;
  const height = Math.max(isNarrow ? 0 : 200, top + rows * ROW_PX + 12);
  const columnPx = isNarrow ? width / columns : (width - HUB_PX) / 2 / side;
  const peers = all.map((one, at): PlacedPeer => {
    const column = Math.floor(at / rows);
    const beyond = !isNarrow && column >= side ? HUB_PX : 0;
    const [x, y] = [column * columnPx + beyond + 2 * DENSE_RADIUS, top + (at % rows) * ROW_PX + ROW_PX / 2];
    return { ...one, x, y, name: { x: x + DENSE_RADIUS + 6, y: y + 4, anchor: 'start' } };
  });
  const nameMax = Math.floor((columnPx - 4 * DENSE_RADIUS) / LETTER_PX);
  const centre = { x: width / 2, y: isNarrow ? 40 : height / 2 };
  return { peers, centre, height, radius: DENSE_RADIUS, nameMax, hasSpokes: !isNarrow };
}
