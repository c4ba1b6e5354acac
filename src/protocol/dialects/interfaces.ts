import type { AgentInterface } from '../card.ts';
import { A2AError } from '../errors.ts';
import type { TenantId } from '../ids.ts';
import type { Mutable } from '../json.ts';
import { withoutEndSlashes } from '../slashes.ts';

export interface InterfaceOptions {
  /** The binding that clients of 1.0 should take if they can speak several. The oldest know nothing but JSON-RPC. */
  readonly prefer?: 'JSONRPC' | 'HTTP+JSON';
  readonly tenant?: TenantId;
}

/**
 * Where a node answers in each binding. HTTP+JSON has the base itself: 1.0's paths hang on it, 0.3's under its `/v1`. The old
 * JSON-RPC address is the root, because it becomes the `url` that Society's clients call, and only there are they known.
 */
const PATHS = { JSONRPC: { '1.0': '/a2a', '0.3': '/' }, 'HTTP+JSON': { '1.0': '', '0.3': '' } } as const;
const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;
const VERSIONS = ['1.0', '0.3'] as const;

/**
 * The interfaces of a node that speaks every dialect, preferred first. Each binding stands there once for 1.0 and once for 0.3: SDKs
 * of 1.0 refuse 0.3 traffic to an agent that does not declare it. What is older or a product's own finds its address in the members
 * that its dialect writes. `baseUrl` is what clients call, never what a Host header says: signed cards vouch for it.
 */
export function interfacesFor(baseUrl: string, options: InterfaceOptions = {}): readonly AgentInterface[] {
  const base = checkedBase(baseUrl);
  const preferred = options.prefer === 'HTTP+JSON' ? BINDINGS.toReversed() : BINDINGS;
  return VERSIONS.flatMap((protocolVersion) =>
    (protocolVersion === '1.0' ? preferred : BINDINGS).map((protocolBinding) => {
      const out: Mutable<AgentInterface> = { url: `${base}${PATHS[protocolBinding][protocolVersion]}`, protocolBinding, protocolVersion };
      if (options.tenant !== undefined && protocolVersion === '1.0') out.tenant = options.tenant; // 0.3 has no tenants
      return out;
    }),
  );
}

/** Without a trailing slash: clients append paths that begin with one. */
function checkedBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (!plain) throw new A2AError('INVALID_PARAMS', 'the base of an agent must be an http(s) address without user, query or fragment');
  return withoutEndSlashes(url.href);
}
