import type { TaskArtifactUpdate } from '#protocol';
import { artifactId, base64ToBytes, bytesToBase64, contextId, taskId } from '#protocol';
import type { OutgoingMessage, ReceivedMessage } from '../../broker.ts';
import { ARTIFACT_ID, ARTIFACT_MODE, ARTIFACT_UPDATE, CHUNK_SEQNO, CONTEXT_ID, EVENT_TYPE, LAST_CHUNK, TASK_ID } from './properties.ts';

/** Files as raw bytes, without base64 (A2A over MQTT 0.1 §8, binary artifacts). */
const CHUNK_BYTES = 65_536;
const UNKNOWN_TYPE = 'application/octet-stream';

/** The chunks of an artifact that is one file. Undefined: the artifact is sent as JSON. */
export function chunksOf(update: TaskArtifactUpdate, message: Omit<OutgoingMessage, 'payload'>): readonly OutgoingMessage[] | undefined {
  const { artifact, append } = update;
  const [part, more] = artifact.parts;
  if (part?.raw === undefined || more !== undefined || append === true) return undefined;
  const bytes = base64ToBytes(part.raw);
  const count = Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES));
  return Array.from({ length: count }, (_, at) => ({
    ...message,
    payload: bytes.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES),
    contentType: part.mediaType ?? UNKNOWN_TYPE,
    properties: {
      ...message.properties,
      [ARTIFACT_MODE]: 'binary',
      [EVENT_TYPE]: ARTIFACT_UPDATE,
      [TASK_ID]: update.taskId,
      [CONTEXT_ID]: update.contextId,
      [ARTIFACT_ID]: artifact.artifactId,
      [CHUNK_SEQNO]: String(at),
      [LAST_CHUNK]: String(at === count - 1),
    },
  }));
}

/** Whether a message carries a chunk of a binary artifact. */
export function isChunk({ properties }: Pick<ReceivedMessage, 'properties'>): boolean {
  return properties[EVENT_TYPE] === ARTIFACT_UPDATE && properties[ARTIFACT_MODE] === 'binary';
}

interface Gathered {
  readonly chunks: Map<number, Uint8Array>;
  last: number | undefined;
  bytes: number;
}

/** Larger files are not assembled, so that a peer can't exhaust our memory. */
const ARTIFACT_BYTES_MAX = 100_000_000;
const CHUNKS_MAX = 100_000;

/** Joins the chunks of one stream. They may come in any order, and repeatedly. */
export class ChunkAssembler {
  readonly #open = new Map<string, Gathered>();

  /** A chunk is missing. */
  get isIncomplete(): boolean {
    return this.#open.size > 0;
  }

  /** Returns the artifact when it is complete. */
  add({
    properties,
    payload,
    contentType,
  }: Pick<ReceivedMessage, 'properties' | 'payload' | 'contentType'>): TaskArtifactUpdate | undefined {
    const id = properties[ARTIFACT_ID] ?? '';
    const number = Number(properties[CHUNK_SEQNO]);
    if (id === '' || !Number.isSafeInteger(number) || number < 0 || number > CHUNKS_MAX) return undefined;
    const gathered = this.#open.get(id) ?? { chunks: new Map(), last: undefined, bytes: 0 };
    this.#open.set(id, gathered);
    if (!gathered.chunks.has(number) && gathered.bytes + payload.length <= ARTIFACT_BYTES_MAX) {
      gathered.chunks.set(number, payload);
      gathered.bytes += payload.length;
    }
    if (properties[LAST_CHUNK] === 'true') gathered.last = number;
    const first = Math.min(...gathered.chunks.keys());
    if (gathered.last === undefined || first > 1 || gathered.chunks.size !== gathered.last - first + 1) return undefined;
    this.#open.delete(id);
    const part = { raw: bytesToBase64(joined(gathered)), ...(contentType === undefined ? {} : { mediaType: contentType }) };
    return {
      taskId: taskId(properties[TASK_ID] ?? ''),
      contextId: contextId(properties[CONTEXT_ID] ?? ''),
      artifact: { artifactId: artifactId(id), parts: [part] },
      lastChunk: true,
    };
  }
}

/** The chunks in the order of their numbers, in which they may not have arrived. */
function joined({ chunks, bytes }: Gathered): Uint8Array {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const [, chunk] of [...chunks].toSorted(([left], [right]) => left - right)) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
