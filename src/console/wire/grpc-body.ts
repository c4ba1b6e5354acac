import { percentDecoded } from '#protocol';

const HEAD_BYTES = 5;
const IS_TRAILER = 0x80;
const NAMES: readonly string[] = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS', 'PERMISSION_DENIED'],
  ...['RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE'],
  ...['DATA_LOSS', 'UNAUTHENTICATED'],
];

/** A body of gRPC-Web for people. */
export interface GrpcBody {
  /** A line for each message, because messages are binary, and the trailers as text. */
  readonly text: string;
  /** How the call ended. Absent: the body has no trailers, as that of a request. */
  readonly status?: string;
}

/** Whether a body of this type is binary, as a browser sends and receives it. */
export function isGrpc(type: string | null): boolean {
  return type?.startsWith('application/grpc') === true;
}

/** The messages and the trailers of a body of gRPC-Web. Each has a flag and its length before it. */
export function grpcBodyIn(bytes: Uint8Array): GrpcBody {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const lines: string[] = [];
  let status: string | undefined;
  for (let from = 0; from + HEAD_BYTES <= bytes.length; ) {
    const length = view.getUint32(from + 1);
    const payload = bytes.subarray(from + HEAD_BYTES, from + HEAD_BYTES + length);
    if ((view.getUint8(from) & IS_TRAILER) === 0) lines.push(`a protobuf message of ${length.toLocaleString('en')} bytes`);
    else {
      const trailers = trailersIn(new TextDecoder().decode(payload));
      const code = trailers.find(([name]) => name === 'grpc-status')?.[1];
      if (code !== undefined) status = NAMES[Number(code)] ?? code;
      lines.push(...trailers.map(([name, value]) => `${name}: ${name === 'grpc-message' ? percentDecoded(value) : value}`));
    }
    from += HEAD_BYTES + length;
  }
  return { text: lines.join('\n'), ...(status === undefined ? {} : { status }) };
}

/** The names of trailers, in lower case, and their values. */
function trailersIn(text: string): readonly (readonly [name: string, value: string])[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const colon = line.indexOf(':');
    return colon === -1 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const];
  });
}
