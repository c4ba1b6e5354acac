import { randomUUID } from 'node:crypto';
import type { ElsewhereMark, HttpResponse } from '#bindings';

/** The body of a request that may belong to another replica, until it is known who answers it. */
export class KeptBody implements ElsewhereMark {
  cell: number | undefined;
  agent: string | undefined;
  readonly key: string;
  bytes: Uint8Array | undefined;

  constructor(key: string, agent?: string) {
    this.key = key;
    this.agent = agent;
  }

  async keep(reading: Promise<Uint8Array>): Promise<Uint8Array> {
    const bytes = await reading;
    this.bytes = bytes;
    return bytes;
  }
}

/** For a request that a caller outside has sent. */
export function keptBody(): KeptBody {
  return new KeptBody(randomUUID());
}

/** The body of a stream's request is kept up to this size, in case another replica has to continue the stream. */
const STREAM_BYTES_MAX = 65_536;

/** Whether another replica has to answer the request. If not, the body is needed no longer, unless the response is a stream. */
export function isElsewhere({ elsewhere }: { readonly elsewhere: KeptBody | undefined }, answer?: Pick<HttpResponse, 'body'>): boolean {
  if (elsewhere === undefined || elsewhere.cell !== undefined) return elsewhere !== undefined;
  const { body = null } = answer ?? {};
  const isStream = body !== null && typeof body !== 'string' && body.isDocument !== true;
  if (!isStream || (elsewhere.bytes?.length ?? 0) > STREAM_BYTES_MAX) elsewhere.bytes = undefined;
  return false;
}
