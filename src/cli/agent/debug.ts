import { isGrpcWeb } from '#bindings';
import type { Fetch } from '#protocol';
import { percentDecoded } from '#protocol';
import { oneLine } from '../output/plain-text.ts';
import type { Secrets } from '../output/secrets.ts';

/** Headers whose values are never logged. */
const CONFIDENTIAL = /^(?:authorization|proxy-authorization|cookie|set-cookie)$|key|token|secret/i;

/** Logs each request and response, with their bodies, to standard error. Logs whole lines, so that a secret is never split and missed. */
export function debugFetch(next: Fetch, secrets: Secrets): Fetch {
  const log = (text: string): void => void process.stderr.write(secrets.mask(`debug: ${text}\n`));
  let count = 0;
  return async (request) => {
    count += 1;
    const id = `#${count}`;
    const start = performance.now();
    const took = (): string => `${Math.round(performance.now() - start)} ms`;
    log(`${id} -> ${request.method} ${request.url}`);
    for (const line of headerLines(request.headers)) log(`${id} -> ${line}`);
    const body = request.body === null ? undefined : await bodyText(request);
    if (body !== undefined && body !== '') log(`${id} -> ${body}`);
    try {
      const response = await next(request);
      log(`${id} <- HTTP ${response.status} after ${took()}`);
      for (const line of headerLines(response.headers)) log(`${id} <- ${line}`);
      const logLine = (line: string): void => log(`${id} <- ${line}`);
      if (isGrpcWeb(response.headers.get('content-type'))) return countedFrames(response, logLine);
      return isJson(response) ? loggedWhole(response, { secrets, logLine }) : logged(response, logLine);
    } catch (thrown) {
      log(`${id} <- failed after ${took()}: ${reasonOf(thrown)}`);
      throw thrown;
    }
  };
}

async function bodyText(request: Request): Promise<string> {
  const copy = request.clone();
  if (!isGrpcWeb(request.headers.get('content-type'))) return await copy.text();
  return `${(await copy.arrayBuffer()).byteLength} bytes of protobuf`;
}

/** Protobuf is not readable. Its amount tells whether anything came; the status of the call is in the last chunk. */
function countedFrames(response: Response, logLine: (line: string) => void): Response {
  if (response.body === null) return response;
  return tapped(response, {
    transform: (chunk, controller) => {
      controller.enqueue(chunk);
      if (chunk.length > 0) logLine(`${chunk.length} bytes of protobuf`);
    },
  });
}

function headerLines(headers: Headers): readonly string[] {
  return [...headers].map(([name, value]) => `${name}: ${CONFIDENTIAL.test(name) ? '***' : readable(name, value)}`);
}

/** The message of a status is percent-encoded, and may contain anything. */
function readable(name: string, value: string): string {
  return name === 'grpc-message' ? oneLine(percentDecoded(value)) : value;
}

function isJson({ headers }: Response): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? '');
}

interface Logging {
  readonly secrets: Secrets;
  readonly logLine: (line: string) => void;
}

/** The same response. Its body is logged when it has been read: the answer of an authorization server tells the secrets to mask in it. */
function loggedWhole(response: Response, { secrets, logLine }: Logging): Response {
  if (response.body === null) return response;
  const decoder = new TextDecoder();
  let text = '';
  return tapped(response, {
    transform: (chunk, controller) => {
      controller.enqueue(chunk);
      text += decoder.decode(chunk, { stream: true });
    },
    flush: () => {
      secrets.addFromAnswer(text);
      for (const line of text.split('\n')) if (line !== '') logLine(line);
    },
  });
}

/** The same response. Its body is logged while it is read. */
function logged(response: Response, log: (line: string) => void): Response {
  if (response.body === null) return response;
  const decoder = new TextDecoder();
  let rest = '';
  return tapped(response, {
    transform: (chunk, controller) => {
      controller.enqueue(chunk);
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') log(line);
    },
    flush: () => {
      if (rest !== '') log(rest);
    },
  });
}

function tapped(response: Response, transformer: Transformer<Uint8Array, Uint8Array>): Response {
  const { status, statusText, headers } = response;
  const tap = new TransformStream<Uint8Array, Uint8Array>(transformer);
  const body = response.body?.pipeThrough(tap as unknown as ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>);
  return new Response(body, { status, statusText, headers });
}

/** The innermost reason: the message of a failed fetch is only "fetch failed". */
export function reasonOf(thrown: unknown): string {
  const reasons: string[] = [];
  for (let at: unknown = thrown; at instanceof Error && reasons.length < 4; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    const nested = at instanceof AggregateError ? at.errors.map(reasonOf).join('; ') : at.message;
    reasons.push(code !== undefined && !nested.includes(code) ? `${nested} (${code})` : nested);
  }
  return reasons.filter((reason) => reason !== '' && reason !== 'fetch failed').at(-1) ?? String(thrown);
}
