import type { OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { HttpResponse } from '#bindings';
import { LateWatch, textStream } from '#bindings';
import type { WriteOptions } from './write-response.ts';
import { AT_ONCE_CHARS, Pump } from './write-response.ts';

/** RFC 9113, section 7. The constants of node:http2 would load all of HTTP/2 at every start. */
const NO_ERROR = 0;
const SMALL_ANSWERS = new LateWatch();

/** Writes a response to a stream of HTTP/2. */
export function writeHttp2Answer(stream: ServerHttp2Stream, { status, headers, body }: HttpResponse, options: WriteOptions): void {
  if (stream.destroyed || stream.closed) {
    if (body !== null && typeof body !== 'string') body.cancel();
    return;
  }
  const watchEnd = (): void => new Pump(textStream(''), stream, options).watch();
  const rest = { watchEnd };
  // The client may still be sending: it must stop, but not lose the response.
  stream.once('finish', () => {
    SMALL_ANSWERS.delete(rest);
    if (!stream.readableEnded) stream.close(NO_ERROR);
  });
  const head: OutgoingHttpHeaders = { ':status': status, ...lowerCased(headers) };
  if (body === null) {
    if (options.onDelivered !== undefined) stream.once('finish', options.onDelivered);
    stream.respond(head, { endStream: true });
  } else if (typeof body === 'string' && body.length <= AT_ONCE_CHARS) {
    if (options.onDelivered !== undefined) stream.once('finish', options.onDelivered);
    stream.respond({ ...head, 'content-length': Buffer.byteLength(body) });
    stream.end(body);
    if (stream.writableLength > 0) SMALL_ANSWERS.add(rest);
  } else {
    stream.respond(typeof body === 'string' ? { ...head, 'content-length': Buffer.byteLength(body) } : head);
    new Pump(typeof body === 'string' ? textStream(body) : body, stream, options).run();
  }
}

/** HTTP/2 has no header of the connection, and refuses them. */
export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (lower !== 'connection') out[lower] = value;
  }
  return out;
}
