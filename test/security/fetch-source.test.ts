import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/**
 * A node sends requests to addresses that others chose only through the outbound guard. So the platform's `fetch` and Node's network
 * modules may be named only by the guard, by code that runs for the user of a command line or a browser, and by code that listens.
 */
const SRC = new URL('../../src/', import.meta.url);
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.test.ts'))
  .map((name) => ({ name, code: withoutComments(readFileSync(new URL(name, SRC), 'utf8')) }));

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(?<![:'"`])\/\/.*$/gm, '');
}

/** Whether the code calls or passes on the platform's `fetch`, not one that it was given. */
function namesPlatformFetch(code: string): boolean {
  if (
    /globalThis\s*\.\s*fetch|globalThis\s*\[|window\s*\.\s*fetch|XMLHttpRequest|EventSource\s*\(|new WebSocket\s*\(|sendBeacon/.test(code)
  )
    return true;
  const isOwn =
    /(?:\bconst fetch\b|(?<!readonly )\bfetch: Fetch\b|(?<!readonly )\bfetch: \(request|[{,]\s*fetch\s*(?:,[^;{}]*)?\}(?::| = ))/.test(
      code,
    );
  const called = /(?<![.#\w'"`-])fetch\s*\((?!request: Request\))/.test(code);
  return called && !isOwn;
}

const namesNetwork = (code: string): boolean =>
  /from '(?:node:)?(?:https?|http2|net|tls|dgram|undici)'|import\('(?:node:)?(?:https?|http2|net|tls|dgram|undici)'\)/.test(code);
const named = (is: (code: string) => boolean): readonly string[] =>
  files
    .filter(({ code }) => is(code))
    .map(({ name }) => name)
    .sort();

describe('the platform’s fetch', () => {
  it('is named only by clients that act for their user', () => {
    expect(named(namesPlatformFetch).filter((name) => !name.startsWith('console/'))).toEqual([
      'agents/llm/http.ts', // the model that the operator named, without redirects
      'bindings/grpc/platform-fetch.ts', // the client library's; a node passes the guard's
      'cli/admin-api.ts', // the user's own node
      'cli/agent/connect.ts', // commands of the user
      'cli/conformance.ts',
      'cli/conversation/connect.ts',
      'client/connection/platform.ts', // the client library; a node passes the guard's fetch
      'server/adapters/otlp/exporter.ts', // the OpenTelemetry receiver that the operator named
    ]);
  });

  it('is found by this test in each of its forms', () => {
    for (const code of ['await fetch(url)', 'x = globalThis.fetch', '(request) => fetch(request)', 'new WebSocket(url)'])
      expect(namesPlatformFetch(code)).toBe(true);
    for (const code of ['const fetch = guarded; fetch(x)', 'options.fetch(x)', 'this.#fetch()'])
      expect(namesPlatformFetch(code)).toBe(false);
  });

  it('is never the client’s own in a node: whatever makes a client there passes the guard', () => {
    const making = files.filter(
      ({ name, code }) => /^(?:server|agents|tools|mesh|workflows|engine)\//.test(name) && /A2AClient\.connect\(/.test(code),
    );
    expect(making.map(({ name }) => name)).toEqual(['tools/connect.ts']);
    const reaching = files.filter(({ code }) => /import \{[^}]*\b(?:reachAgent|remoteAgent|toolsOf)\b[^}]*\} from '#tools'/.test(code));
    for (const { name, code } of reaching) expect(code, name).toContain('guardedFetchFor(');
    expect(reaching.length).toBeGreaterThan(1);
  });
});

describe('Node’s network modules', () => {
  it('are imported only by servers, the guard, and user-side commands', () => {
    expect(named(namesNetwork)).toEqual([
      'bindings/grpc/adapters/direct.ts', // types
      'bindings/grpc/adapters/http2.ts', // the client library's gRPC; a node gives it the guard's connections
      'bindings/grpc/adapters/request-messages.ts', // a type
      'bindings/grpc/adapters/sessions.ts', // its connections
      'cli/agent/tls.ts', // certificates of --ca and --cert
      'cli/data/local-node.ts', // the user's own node, on this machine
      'cli/init/templates/llm.ts', // the text of a file
      'cli/mcp.ts', // a type
      'cli/mcp/listen-locally.ts', // listens
      'cli/serve/workers.ts', // listens
      'cli/task/listen.ts', // listens
      'client/adapters/http1.ts', // requests of the guard and of --ca; they open its connections
      'client/adapters/http1/exchange.ts', // types
      'client/adapters/node-http.ts', // the client library's requests; a node passes the guard's fetch
      'client/adapters/node-http/decoded.ts', // types
      'engine/adapters/postgres/pg-database.ts', // connections to the operator's database
      'engine/adapters/postgres/tls.ts', // types
      'server/adapters/node.ts', // listens
      'server/adapters/node/bind.ts', // listens; asks whether a Unix socket is in use
      'server/adapters/node/check-head.ts',
      'server/adapters/node/connect-answer.ts', // types
      'server/adapters/node/connection-limits.ts', // a type
      'server/adapters/node/grpc-port.ts', // types
      'server/adapters/node/http-request.ts',
      'server/adapters/node/http-server.ts',
      'server/adapters/node/http2-answer.ts', // types
      'server/adapters/node/http2-host.ts', // listens
      'server/adapters/node/http2-request.ts', // types
      'server/adapters/node/http2-session.ts', // types
      'server/adapters/node/linger.ts', // types
      'server/adapters/node/one-port.ts', // listens
      'server/adapters/node/parser-errors.ts', // a type
      'server/adapters/node/pipelined.ts', // types
      'server/adapters/node/tls-connections.ts', // types
      'server/adapters/node/tls.ts',
      'server/adapters/node/write-response.ts',
      'server/adapters/otlp/grpc.ts', // the collector that the operator names
      'server/adapters/replicas/elsewhere.ts', // types
      'server/adapters/replicas/forward.ts', // types
      'server/adapters/replicas/link-client.ts', // connections to the nodes that the operator's database lists
      'server/adapters/replicas/link-host.ts', // listens
      'server/adapters/replicas/link-keys.ts', // a type
      'server/adapters/replicas/link-request.ts', // types
      'server/adapters/replicas/outside.ts', // types
      'server/adapters/replicas/passing.ts', // types
      'server/adapters/replicas/routed-items.ts', // types, and the codes of HTTP/2
      'server/adapters/replicas/send-channel.ts', // the same
      'server/adapters/replicas/serve-call.ts', // the same
      'server/adapters/replicas/serve-sends.ts', // the same
      'server/outbound/connect.ts', // the guard
    ]);
  });
});
