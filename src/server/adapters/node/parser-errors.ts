import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { newRequestId } from '../../access/request-id.ts';
import type { ParserError } from './one-port.ts';

/**
 * What Node's parser rejects never becomes a request. By default Node answers it without our headers. `take`: whether it is answered otherwise.
 */
export function answerParserErrors(server: Server, take: (error: ParserError, socket: Duplex) => boolean): void {
  server.on('clientError', (error: ParserError, socket: Duplex & HttpSocket) => {
    if (take(error, socket)) return;
    // Once a response has begun, more bytes would corrupt it.
    if (socket.writable && socket._httpMessage?.headersSent !== true) socket.write(answerTo(error.code));
    socket.destroySoon?.();
  });
}

interface HttpSocket {
  /** Node's response that is being written. */
  readonly _httpMessage?: { readonly headersSent: boolean } | null;
  destroySoon?(): void;
}

const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

function answerTo(code: string | undefined): string {
  const status = STATUS[code ?? ''] ?? '400 Bad Request';
  return `HTTP/1.1 ${status}\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: ${newRequestId()}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
}
