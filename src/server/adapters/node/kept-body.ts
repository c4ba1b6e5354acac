import { randomUUID } from 'node:crypto';
import type { ElsewhereMark } from '#bindings';

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

/** Whether another replica has to answer the request. If not, the body is needed no longer. */
export function isElsewhere({ elsewhere }: { readonly elsewhere: KeptBody | undefined }): boolean {
  if (elsewhere === undefined || elsewhere.cell !== undefined) return elsewhere !== undefined;
  elsewhere.bytes = undefined;
  return false;
}
