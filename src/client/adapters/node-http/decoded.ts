/// <reference types="node" />
import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';

/** What `fetch` asks for. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

/** The body of a response without its content codings, as it arrives. A body with an unknown coding stays as it is. */
export function decoded(incoming: IncomingMessage): Readable {
  const codings = incoming.headers['content-encoding'];
  if (codings === undefined) return incoming;
  const decoders: Transform[] = [];
  for (const coding of codings.toLowerCase().split(',').toReversed()) {
    const decoder = decoderOf(coding.trim());
    if (decoder === undefined) return incoming;
    decoders.push(decoder);
  }
  const { pipeline } = process.getBuiltinModule('node:stream');
  // The last stream reports every error.
  return decoders.reduce<Readable>((from, to) => pipeline([from, to], () => undefined) as unknown as Readable, incoming);
}

function decoderOf(coding: string): Transform | undefined {
  const zlib = process.getBuiltinModule('node:zlib');
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants;
  // Each piece is decoded at once, and a body that ends without the trailer of its coding is accepted, as `fetch` does.
  const flushing = { flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH };
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip(flushing);
    case 'deflate':
      return zlib.createInflate(flushing);
    case 'br':
      return zlib.createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH, finishFlush: BROTLI_OPERATION_FLUSH });
    default:
      return undefined;
  }
}
